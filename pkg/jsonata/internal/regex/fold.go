package regex

import (
	"sync"
	"unicode"
)

// expandingUpper lists the units of the Basic Multilingual Plane whose full
// upper case is longer than one character (Unicode SpecialCasing.txt). JavaScript
// without the u flag leaves them as they are when it ignores case.
var expandingUpper = charset{
	{0x00DF, 0x00DF}, {0x0149, 0x0149}, {0x01F0, 0x01F0}, {0x0390, 0x0390}, {0x03B0, 0x03B0},
	{0x0587, 0x0587}, {0x1E96, 0x1E9A}, {0x1F50, 0x1F50}, {0x1F52, 0x1F52}, {0x1F54, 0x1F54},
	{0x1F56, 0x1F56}, {0x1F80, 0x1FAF}, {0x1FB2, 0x1FB4}, {0x1FB6, 0x1FB7}, {0x1FBC, 0x1FBC},
	{0x1FC2, 0x1FC4}, {0x1FC6, 0x1FC7}, {0x1FCC, 0x1FCC}, {0x1FD2, 0x1FD3}, {0x1FD6, 0x1FD7},
	{0x1FE2, 0x1FE4}, {0x1FE6, 0x1FE7}, {0x1FF2, 0x1FF4}, {0x1FF6, 0x1FF7}, {0x1FFC, 0x1FFC},
	{0xFB00, 0xFB06}, {0xFB13, 0xFB17},
}

// canonical is Canonicalize of ECMA-262 22.2.2.7.3 for patterns with the i flag
// and without u.
func canonical(u uint16) uint16 {
	if u < 0x80 {
		if 'a' <= u && u <= 'z' {
			return u - 'a' + 'A'
		}
		return u
	}
	if expandingUpper.has(u) {
		return u
	}
	up := unicode.ToUpper(rune(u))
	if up < 0x80 || up > maxUnit {
		return u
	}
	return uint16(up)
}

// foldClasses holds, for each unit that equals another one when case is
// ignored, all units of its class. It is built on first use and then read only.
var foldClasses = sync.OnceValue(func() map[uint16][]uint16 {
	byCanon := map[uint16][]uint16{}
	for u := 0; u <= maxUnit; u++ {
		c := canonical(uint16(u))
		if int(c) != u || unicode.SimpleFold(rune(u)) != rune(u) {
			byCanon[c] = append(byCanon[c], uint16(u))
		}
	}
	classes := map[uint16][]uint16{}
	for _, class := range byCanon {
		if len(class) < 2 {
			continue
		}
		for _, u := range class {
			classes[u] = class
		}
	}
	return classes
})

// foldClosure adds to a normalized c every unit that equals one of its units
// when case is ignored.
func (c charset) foldClosure() charset {
	if u, ok := c.one(); ok && u < 0x80 && canonical(u) == u && (u < 'A' || u > 'Z') {
		return c
	}
	out := append(charset(nil), c...)
	for u, class := range foldClasses() {
		if !c.has(u) {
			continue
		}
		for _, v := range class {
			out = append(out, span{v, v})
		}
	}
	return out.normalize()
}
