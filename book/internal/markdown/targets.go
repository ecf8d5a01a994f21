package markdown

// perTarget is what it costs to look at a target, in bytes that are read in advance.
const perTarget = 16

// AnyTarget returns whether a test may be true for the target of a reference that Scan
// yields. It reads what follows each bracket and each angle bracket, whatever surrounds it,
// so it tests all of these targets, and others, such as those in code. It takes a sixth of
// the time of Scan: a chapter whose targets are all right need not be scanned. It returns
// true early if there are so many targets that it would not save much.
func AnyTarget(text string, test func(target string) bool) bool {
	i := &inline{end: len(text), scanner: &scanner{text: text, lookahead: lookahead(text) / 4}}
	i.yield = func(r Reference) bool { return !test(r.Target) }
	for at := i.find(0, ']') + 1; at < len(text) && !i.done; at = i.find(at, ']') + 1 {
		switch text[at] {
		case '(':
			target, _, ok := i.destination(at + 1)
			if i.spend(perTarget) && ok && test(target) {
				return true
			}
		case ':':
			i.define(at+1, at, "")
		}
	}
	for at := i.find(0, '<'); at < len(text) && i.spend(perTarget); at = i.find(at+1, '<') {
		i.tag(at, true)
	}

	return i.done
}
