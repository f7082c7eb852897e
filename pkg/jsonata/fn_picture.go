package jsonata

import (
	"errors"
	"math"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/picture"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var pictureFunctions = []native{
	{"formatNumber", mustSignature("<n-so?:s>"), 3, fnFormatNumber},
	{"formatInteger", mustSignature("<n-s:s>"), 2, fnFormatInteger},
	{"parseInteger", mustSignature("<s-s:n>"), 2, fnParseInteger},
	{"now", mustSignature("<s?s?:s>"), 2, fnNow},
	{"millis", mustSignature("<:n>"), 0, fnMillis},
	{"toMillis", mustSignature("<s-s?:n>"), 2, fnToMillis},
	{"fromMillis", mustSignature("<n-s?s?:s>"), 3, fnFromMillis},
}

// pictureError makes an error of one that concerns a picture.
func pictureError(err error) *Error {
	var p *picture.Error
	if !errors.As(err, &p) {
		return &Error{Code: "D3110", Offset: -1, Message: err.Error()}
	}
	return &Error{Code: p.Code, Offset: -1, Message: strings.TrimPrefix(p.Error(), p.Code+": ")}
}

func fnFormatNumber(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	text := args[1].Str()
	var p *picture.Number
	if options := args[2].Entries(); len(options) > 0 && len(text) <= maxPicture {
		m := make(map[string]string, len(options))
		for _, e := range options {
			if e.Value.Kind() == value.String {
				m[e.Key] = e.Value.Str()
			}
		}
		var err error
		if p, err = picture.CompileNumber(text, m); err != nil {
			return value.Undef, pictureError(err)
		}
	} else {
		var err *Error
		p, err = compiled(ev.known.numbers, &ev.pictures.numbers, text, compileNumber)
		if err != nil {
			return value.Undef, err
		}
	}
	return value.FromString(p.Format(args[0].Float())), nil
}

func fnFormatInteger(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	p, err := compiled(ev.known.integers, &ev.pictures.integers, args[1].Str(), picture.CompileInteger)
	if err != nil {
		return value.Undef, err
	}
	return value.FromString(p.Format(args[0].Float())), nil
}

func fnParseInteger(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	p, err := compiled(ev.known.integers, &ev.pictures.integers, args[1].Str(), picture.CompileInteger)
	if err != nil {
		return value.Undef, err
	}
	x, perr := p.Parse(args[0].Str())
	if perr != nil {
		return value.Undef, pictureError(perr)
	}
	return value.FromFloat(x), nil
}

func fnNow(ev *evaluator, args []value.Value) (value.Value, *Error) {
	return formatTime(ev, ev.now().UnixMilli(), args[0], args[1])
}

func fnMillis(ev *evaluator, _ []value.Value) (value.Value, *Error) {
	return value.FromFloat(float64(ev.now().UnixMilli())), nil
}

func fnFromMillis(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	x := math.Trunc(args[0].Float())
	if math.Abs(x) > 8.64e15 || math.IsNaN(x) {
		return value.Undef, newError("D3110", -1, details{value: args[0]})
	}
	return formatTime(ev, int64(x), args[1], args[2])
}

func formatTime(ev *evaluator, millis int64, pic, zone value.Value) (value.Value, *Error) {
	if pic.IsUndefined() && zone.IsUndefined() {
		s, err := picture.FormatISO(millis)
		if err != nil {
			return value.Undef, pictureError(err)
		}
		return value.FromString(s), nil
	}
	p := picture.DefaultDateTime
	if !pic.IsUndefined() {
		var err *Error
		if p, err = compiled(ev.known.dates, &ev.pictures.dates, pic.Str(), picture.CompileDateTime); err != nil {
			return value.Undef, err
		}
	}
	s, err := p.Format(millis, zone.Str())
	if err != nil {
		return value.Undef, pictureError(err)
	}
	return value.FromString(s), nil
}

func fnToMillis(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	if args[1].IsUndefined() {
		x, err := picture.ParseISO(args[0].Str())
		if err != nil {
			return value.Undef, pictureError(err)
		}
		return value.FromFloat(x), nil
	}
	p, err := compiled(ev.known.dates, &ev.pictures.dates, args[1].Str(), picture.CompileDateTime)
	if err != nil {
		return value.Undef, err
	}
	x, ok, perr := p.Parse(args[0].Str(), ev.now())
	if perr != nil {
		return value.Undef, pictureError(perr)
	}
	if !ok {
		return value.Undef, nil
	}
	return value.FromFloat(x), nil
}
