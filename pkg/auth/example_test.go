package auth_test

import (
	"fmt"
	"net/http/httptest"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

func ExampleNewTokens() {
	tokens, err := auth.ParseTokens("ann 0123456789abcdef notes.read\n")
	if err != nil {
		panic(err)
	}
	guard, err := auth.NewTokens(tokens)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest("POST", "/mcp", nil)
	_, refused := guard.Admit(httptest.NewRecorder(), r)
	fmt.Println("without a token:", refused != nil)
	r.Header.Set("Authorization", "Bearer 0123456789abcdef")
	caller, _ := guard.Admit(httptest.NewRecorder(), r)
	fmt.Println(caller.Name, caller.Scopes)
	// Output:
	// without a token: true
	// ann [notes.read]
}
