package markdown

import "testing"

func TestAnyTarget(t *testing.T) {
	for text, want := range map[string]bool{
		"[a](dead.md)":                        true,
		"[a]( <dead.md> 'title')":             true,
		"[a][b]\n\n[b]: dead.md":              true,
		"<img alt=x src='dead.md'>":           true,
		"`[a](dead.md)`":                      true,
		"[a](other.md) [b]: other.md <a href": false,
		"dead.md [a] (dead.md)":               false,
		"":                                    false,
	} {
		if got := AnyTarget(text, func(target string) bool { return target == "dead.md" }); got != want {
			t.Errorf("AnyTarget(%q): want %t, got %t", text, want, got)
		}
	}
}

// FuzzAnyTarget checks that every target that Scan yields is tested.
func FuzzAnyTarget(f *testing.F) {
	for _, text := range []string{
		"[a](b.md \"c\") ![d](<e f>)\n[g]: h\n", "> - [a](b(c).md)\n>\n> <a\nhref='d'>", "[a]:b\x00\n[c]\\](d)\n\n`]`(<)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for r := range Scan(text) {
			if r.Kind != Heading && r.Kind != Use && !AnyTarget(text, func(target string) bool { return target == r.Target }) {
				t.Errorf("Scan yields %q, and AnyTarget does not test it", r.Target)
			}
		}
	})
}
