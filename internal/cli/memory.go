package cli

import (
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// memoryOption is what the flag --memory says; 0 where it says nothing.
type memoryOption int64

func (o *memoryOption) flag(cmd *cobra.Command) {
	cmd.Flags().Func("memory",
		"hold at most `SIZE`, such as 512MiB, in this process, and refuse calls that need more (default: GOMEMLIMIT, the container's limit, or 75% of the machine's memory)",
		func(text string) error {
			n, err := memory.ParseSize(text)
			if err == nil && n < memory.MinLimit {
				err = errors.New("expected at least " + memory.Format(memory.MinLimit))
			}
			*o = memoryOption(n)
			return err
		})
}

// budget makes the limit that of the process, and returns what is to be held
// within it; nil where no limit is known.
func (o memoryOption) budget(log *slog.Logger) *memory.Budget {
	limit, source := int64(o), "--memory"
	if limit == 0 {
		limit, source = memory.Detect()
	}
	if limit == 0 {
		log.Warn("the memory of this machine is not known, so nothing bounds what is held; set --memory")
		return nil
	}
	budget := memory.New(limit)
	budget.Apply()
	log.Debug("memory is bounded", "limit", memory.Format(budget.Limit()), "by", source)
	return budget
}
