package cli

import (
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// memoryOption is the value of the flag --memory, or 0 without the flag.
type memoryOption int64

func (o *memoryOption) flag(cmd *cobra.Command) {
	cmd.Flags().Func("memory",
		"limit the memory of this process to `SIZE`, such as 512MiB; calls that need more are refused (default: GOMEMLIMIT, the container's limit, or 75% of the machine's memory)",
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
// within it, or nil if no limit is known.
func (o memoryOption) budget(log *slog.Logger) *memory.Budget {
	limit, source := int64(o), "--memory"
	if limit == 0 {
		limit, source = memory.Detect()
	}
	if limit == 0 {
		log.Warn("cannot determine the memory of this machine, so memory is not limited; set --memory")
		return nil
	}
	budget := memory.New(limit)
	budget.Apply()
	log.Debug("memory is limited", "limit", memory.Format(budget.Limit()), "by", source)
	return budget
}
