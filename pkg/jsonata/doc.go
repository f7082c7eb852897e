// Package jsonata compiles and evaluates JSONata 2.x, a language that queries
// and transforms JSON (https://docs.jsonata.org).
//
// [Compile] parses an expression once. The [Expr] is immutable: any number of
// goroutines may call [Expr.Eval] at the same time, each with its own input,
// variables and limits ([Options]). Functions of the host program are made
// known with [WithFunctions] and take part in everything a function can.
//
// Values are those of package value: they distinguish undefined from null, keep
// the order of keys, and keep the digits of integers that only pass through. An
// evaluation never changes its input.
//
// Everything is bounded ([Limits]): by depth, by the size of what is built, by
// memory and by the context, whose end also stops a regular expression. What
// goes wrong is an [Error] with the language's code, the byte offset in the
// source, and a sentence.
package jsonata
