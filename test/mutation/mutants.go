package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A mutant is a file with one piece of it replaced.
type mutant struct {
	path       string
	start, end int
	with       string

	line int
	what string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s", filepath.Base(m.path), m.line, m.what)
}

// apply returns the source with the mutation in it.
func (m mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.start], []byte(m.with), source[m.end:])
}

// mutantsOf returns every mutant of a source file.
func mutantsOf(path string, source []byte) ([]mutant, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w", path, err)
	}

	f := &finder{path: path, source: source, files: files}
	ast.Inspect(file, f.visit)

	return f.found, nil
}

type finder struct {
	path   string
	source []byte
	files  *token.FileSet
	found  []mutant
}

// swaps are the operators that are exchanged for one another.
var swaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// visit adds the mutants of a node, and returns whether to look into it.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.StructType:
		// An import or a tag that is broken does not compile.
		return false
	case *ast.CallExpr:
		return !silent(n)
	case ast.Stmt:
		f.statement(n)
	case ast.Expr:
		f.expression(n)
	}

	return true
}

func (f *finder) expression(n ast.Expr) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if with, ok := swaps[n.Op]; ok {
			f.add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), with.String(), fmt.Sprintf("%s instead of %s", with, n.Op))
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.add(n.OpPos, n.OpPos+1, "", "no !")
		}
	case *ast.BasicLit:
		f.literal(n)
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			with := strconv.FormatBool(n.Name == "false")
			f.add(n.Pos(), n.End(), with, with)
		}
	case *ast.CompositeLit:
		f.elements(n)
	}
}

func (f *finder) statement(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.CaseClause:
		if len(n.List) == 1 {
			f.never(n.List[0])
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && silent(call) {
			return
		}
		f.add(n.Pos(), n.End(), "", "without "+f.text(n))
	case *ast.IncDecStmt:
		f.add(n.Pos(), n.End(), "", "without "+f.text(n))
	case *ast.ReturnStmt:
		if len(n.Results) == 0 {
			f.add(n.Pos(), n.End(), "", "without return")
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && len(n.Rhs) == 1 {
			blanks := strings.TrimSuffix(strings.Repeat("_, ", len(n.Lhs)), ", ")
			f.add(n.Pos(), n.End(), blanks+" = "+f.text(n.Rhs[0]), "without the effect of "+f.text(n))
		}
	}
}

// silent returns whether a call has no effect that a test could see: it cannot be
// reached, tells how much room is needed, or logs.
func silent(n *ast.CallExpr) bool {
	switch fun := n.Fun.(type) {
	case *ast.Ident:
		return fun.Name == "panic" || fun.Name == "make"
	case *ast.SelectorExpr:
		return fun.Sel.Name == "Debug"
	default:
		return false
	}
}

// negate adds the opposite of a condition, unless that of its operator is it.
func (f *finder) negate(cond ast.Expr) {
	switch e := cond.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.EQL || e.Op == token.NEQ {
			return
		}
	case *ast.UnaryExpr:
		return
	}
	f.add(cond.Pos(), cond.End(), "!("+f.text(cond)+")", "not "+f.text(cond))
}

// never keeps a case from being taken.
func (f *finder) never(e ast.Expr) {
	switch e.(type) {
	case *ast.BinaryExpr, *ast.CallExpr, *ast.UnaryExpr:
		f.add(e.Pos(), e.End(), "false && ("+f.text(e)+")", "never "+f.text(e))
	}
}

func (f *finder) literal(n *ast.BasicLit) {
	if n.Kind == token.INT {
		f.add(n.Pos(), n.End(), "("+n.Value+"+1)", n.Value+"+1")
	}
	if n.Kind == token.STRING {
		f.add(n.End()-1, n.End()-1, "x", "another text than "+n.Value)
	}
}

// elements leaves each element with a key out.
func (f *finder) elements(n *ast.CompositeLit) {
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		end := kv.End()
		rest := f.source[f.offset(end):]
		if i := strings.IndexFunc(string(rest), func(r rune) bool { return r != ' ' && r != '\n' && r != '\t' }); i >= 0 && rest[i] == ',' {
			end += token.Pos(i + 1)
		}
		f.add(kv.Pos(), end, "", "without "+f.text(kv.Key))
	}
}

func (f *finder) add(start, end token.Pos, with, what string) {
	const most = 100
	what = strings.Join(strings.Fields(what), " ")
	if len(what) > most {
		what = what[:most] + "…"
	}
	f.found = append(f.found, mutant{
		path: f.path, start: f.offset(start), end: f.offset(end), with: with,
		line: f.files.Position(start).Line, what: what,
	})
}

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) offset(p token.Pos) int { return f.files.Position(p).Offset }
