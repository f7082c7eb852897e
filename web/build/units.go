package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// units bundles the tests of what needs no browser, src/units.test.ts, into the folder
// out. Node.js runs what it makes: units.mjs.
func units(web, out string) error {
	web, err := filepath.Abs(web)
	if err != nil {
		return err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: web,
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "src/units.test.ts", OutputPath: "units"},
		},
		Outdir:       out,
		OutExtension: map[string]string{".js": ".mjs"},
		Bundle:       true,
		Write:        true,
		Platform:     api.PlatformNode,
		Format:       api.FormatESModule,
		Target:       api.ES2022,
		JSX:          api.JSXAutomatic,
		Banner:       map[string]string{"js": `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`},
	})
	for _, text := range api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage}) {
		fmt.Fprint(os.Stderr, text)
	}
	if n := len(result.Errors); n > 0 {
		return fmt.Errorf("%d errors", n)
	}
	return nil
}
