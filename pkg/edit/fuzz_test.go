package edit_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func FuzzFormat(f *testing.F) {
	for _, tt := range formats {
		f.Add([]byte(text(tt.in)))
		f.Add(bytes.ReplaceAll([]byte(text(tt.in)), []byte("\n"), []byte("\r\n")))
	}
	f.Add([]byte("\ufeffa: 1\r\n"))
	f.Add([]byte("a:\t1\t# b\n"))
	f.Add([]byte("nodes:\n- type: transform\n  transform: {expr: >\n    a\n    b}\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		out, err := edit.Format("f.yaml", source)
		var invalid *edit.InvalidError
		switch {
		case errors.As(err, &invalid):
			return
		case errors.Is(err, edit.ErrUnsafe):
			return
		case err != nil:
			t.Fatal(err)
		}
		again, err := edit.Format("f.yaml", out)
		if err != nil {
			t.Fatalf("%v, the second time: %q", err, out)
		}
		if !bytes.Equal(out, again) {
			t.Fatalf("formatting twice differs from once: %q and %q", out, again)
		}
		before, _ := config.ParseYAML("f.yaml", source)
		after, _ := config.ParseYAML("f.yaml", out)
		if before.Value().Len() != after.Value().Len() {
			t.Fatalf("%q became %q", source, out)
		}
	})
}

func FuzzEdit(f *testing.F) {
	for _, tt := range formats {
		f.Add([]byte(text(tt.in)), uint64(1))
	}
	f.Add([]byte("\ufeff"+edited), uint64(2))
	f.Add([]byte("a: [b: c, {d, e: }]\r\n? f\r\n"), uint64(3))
	f.Fuzz(func(t *testing.T, source []byte, seed uint64) {
		d, err := edit.Parse("f.yaml", source)
		if err != nil || d.Value().Kind() != value.Object && d.Value().Kind() != value.Array {
			return
		}
		op := randomOperation(rand.New(rand.NewPCG(seed, 0)), d.Value())
		edits, after, err := d.Edit(op)
		if err != nil {
			if !errors.Is(err, edit.ErrPath) && !errors.Is(err, edit.ErrUnsafe) {
				t.Fatal(err)
			}
			return
		}
		if got := edit.Apply(source, edits); !bytes.Equal(got, after.Source()) {
			t.Fatalf("%v: %q became %q, and the edits make %q", op, source, after.Source(), got)
		}
		again, err := edit.Parse("f.yaml", after.Source())
		if err != nil || again.Value().JSON() != after.Value().JSON() {
			t.Fatalf("%v: %q became %q: %v", op, source, after.Source(), err)
		}
	})
}
