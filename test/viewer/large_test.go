package viewer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// largeBook returns a book of 500 chapters and nearly 1 MiB, always the same.
//
// mdBook's index for searching is most of its memory, and grows with the number of
// different words and with the chapters that each is in. So words come as often as
// in English prose: two of five are among those that the index leaves out, and of
// the others few come often and many once, about 7,500 in all.
func largeBook() map[string]string {
	const chapters, size, vocabulary = 500, 2030, 9000
	left := strings.Fields("the of and to in is that it for on are as with be by this at from or not but have which you")
	r := rand.New(rand.NewPCG(1, 2))
	frequency := rand.NewZipf(r, 1.1, 5, vocabulary)
	summary := "# Summary\n\n"
	book := map[string]string{}
	for i := range chapters {
		name := fmt.Sprintf("chapter-%03d.md", i+1)
		summary += fmt.Sprintf("- [Chapter %d](%s)\n", i+1, name)
		text := &strings.Builder{}
		fmt.Fprintf(text, "# Chapter %d\n\n", i+1)
		for n := 1; text.Len() < size; n++ {
			if r.IntN(5) < 2 {
				text.WriteString(left[r.IntN(len(left))])
			} else {
				text.WriteString(word(frequency.Uint64()))
			}
			if n%12 == 0 {
				text.WriteString(".\n")
				continue
			}
			text.WriteString(" ")
		}
		book[name] = text.String()
	}
	book["SUMMARY.md"] = summary

	return book
}

// word returns a word for a number, two to four syllables long.
func word(n uint64) string {
	consonants, vowels := "bcdfghjklmnprstvw", "aeiou"
	w := &strings.Builder{}
	for n = n*7919%614_125 + 85; n > 0; n /= 85 {
		w.WriteByte(consonants[n%17])
		w.WriteByte(vowels[n/17%5])
	}

	return w.String()
}
