package config_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// What merge keys copy counts on the account of a load, as the values of the file do.
func TestMergedKeysAreCounted(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: \"1.0\"\nserver: {name: s, version: \"1\"}\ntools: []\nx-merged:\n  - &a0 {k0: 0}\n")
	for i := range 620 { // which copy 192,510 keys
		fmt.Fprintf(&b, "  - &a%d {<<: *a%d, k%d: 1}\n", i+1, i, i+1)
	}
	if _, ds := config.Parse("t.yaml", []byte(b.String()), config.Options{}); len(ds) > 0 {
		t.Fatal(ds)
	}
	account := memory.New(memory.MinLimit).Account("")
	defer account.Close()
	ctx, done := memory.WithAccount(context.Background(), account)
	defer done()
	file, _ := config.Parse("t.yaml", []byte(b.String()), config.Options{Context: ctx})
	var refused *memory.Error
	if file != nil || !errors.As(context.Cause(ctx), &refused) {
		t.Errorf("a file of 18 kB that takes 40 MB was read within %s: %v", memory.Format(memory.MinLimit), context.Cause(ctx))
	}
}
