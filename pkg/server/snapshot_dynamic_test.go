package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// However many callers read long lists, a bounded part of them is kept, and not for long.
func TestKeptListsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := &dynamicLists{memory: memory.New(1 << 30)}
		key := func(i int) dynamicKey { return dynamicKey{members: "resources", identity: fmt.Sprint(i)} }
		list := func(entries, bytes int) *dynamicList {
			d := &dynamicList{}
			text := []byte(strings.Repeat("x", bytes))
			for range entries {
				d.list = append(d.list, listed{legacy: text, modern: text})
			}
			return d
		}
		all.keep(key(0), list(pageSize, 1))
		all.keep(key(0), list(1000, keptListBytes/1000))
		if all.find(key(0)) != nil {
			t.Error("a list of one page is kept, or one that is too long")
		}
		for i := range 20 {
			all.keep(key(i), list(1000, keptListBytes/10_000))
			time.Sleep(time.Second)
			all.find(key(0)) // the one that is used stays
		}
		kept := 0
		for i := range 20 {
			if all.find(key(i)) != nil {
				kept++
			}
		}
		synctest.Wait()
		if kept != 9 || all.find(key(0)) == nil || all.find(key(19)) == nil || all.bytes > keptListBytes || all.memory.Held() < all.bytes/2 {
			t.Errorf("%d lists of %d bytes are kept, and %d bytes count", kept, all.bytes, all.memory.Held())
		}
		time.Sleep(keptListTime / 2)
		all.find(key(0))
		time.Sleep(keptListTime/2 + time.Second)
		if all.find(key(0)) == nil || all.find(key(19)) != nil {
			t.Error("a list that is read is not kept, or one that is not")
		}
		time.Sleep(keptListTime + time.Second)
		synctest.Wait() // for the timer that drops the last list
		if len(all.kept) != 0 || all.bytes != 0 || all.memory.Held() != 0 {
			t.Errorf("%d lists, %d bytes, %d held", len(all.kept), all.bytes, all.memory.Held())
		}
	})
}
