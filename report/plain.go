package report

import (
	"fmt"
	"io"
	"strings"
)

// Plain makes text fit for a terminal: control characters, which names and logs of scripts, files and kernels may
// hold, are written as \x1b. Line ends and tabulators stay.
func Plain(s string) string {
	if strings.IndexFunc(s, command) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if command(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// command says whether a terminal may take a character as a command: those of ASCII and of Latin-1 (C0, DEL, C1).
func command(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// PlainWriter passes everything written to it on as Plain text. A write holds whole characters.
func PlainWriter(w io.Writer) io.Writer { return plainWriter{w} }

type plainWriter struct{ w io.Writer }

func (p plainWriter) Write(b []byte) (int, error) {
	s := string(b)
	t := Plain(s)
	if t == s {
		return p.w.Write(b)
	}
	if _, err := io.WriteString(p.w, t); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Raw is the writer behind a PlainWriter, for text that does not come from Heddle.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(plainWriter); ok {
		return p.w
	}
	return w
}
