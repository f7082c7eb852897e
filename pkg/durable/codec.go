package durable

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Encodings of payloads, in their metadata. A payload that is encoded holds the whole
// payload that it stands for.
const (
	encodingKey  = "encoding"
	deflated     = "binary/mcpgraph-deflate"
	sealed       = "binary/mcpgraph-aes-gcm"
	compressFrom = 4 << 10 // bytes; below that it is not worth the time
	maxPayload   = 256 << 20
)

// ErrNoKey is returned for what was sealed with a key that is not here.
var ErrNoKey error = noKeyError{}

type noKeyError struct{}

// Error says what to check.
func (noKeyError) Error() string {
	return "the run was sealed with another key, or with one while none is set: check MCPGRAPH_KEY"
}

// Is reports whether target is runs.ErrUnreadable, too.
func (noKeyError) Is(target error) bool { return target == runs.ErrUnreadable }

// codec compresses payloads that are long and, with a key, seals all of them.
type codec struct{ key cipher.AEAD }

var _ converter.PayloadCodec = codec{}

// newCodec returns the codec for a secret of any length, [runs.MinKey] bytes at least; empty:
// nothing is sealed.
func newCodec(secret []byte) (codec, error) {
	if len(secret) == 0 {
		return codec{}, nil
	}
	if len(secret) < runs.MinKey {
		return codec{}, fmt.Errorf("the key has %d bytes, it needs %d at least", len(secret), runs.MinKey)
	}
	sum := sha256.Sum256(append([]byte("mcpgraph durable runs\x00"), secret...))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return codec{}, err
	}
	aead, err := cipher.NewGCM(block)
	return codec{aead}, err
}

// Encode implements converter.PayloadCodec.
func (c codec) Encode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(list, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		if c.key == nil && len(p.GetData()) < compressFrom {
			return p, nil
		}
		text, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		encoding := ""
		if len(p.GetData()) >= compressFrom {
			var b bytes.Buffer
			w, _ := flate.NewWriter(&b, flate.BestSpeed)
			if _, err := w.Write(text); err != nil {
				return nil, err
			}
			if err := w.Close(); err != nil {
				return nil, err
			}
			text, encoding = b.Bytes(), deflated
		}
		if c.key == nil {
			return payload(encoding, text), nil
		}
		if encoding != "" {
			if text, err = proto.Marshal(payload(encoding, text)); err != nil {
				return nil, err
			}
		}
		nonce := make([]byte, c.key.NonceSize(), c.key.NonceSize()+len(text)+c.key.Overhead())
		if _, err := rand.Read(nonce); err != nil {
			return nil, err
		}
		return payload(sealed, c.key.Seal(nonce, nonce, text, []byte(sealed))), nil
	})
}

// Decode implements converter.PayloadCodec.
func (c codec) Decode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(list, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		text := p.GetData()
		switch string(p.GetMetadata()[encodingKey]) {
		case sealed:
			if c.key == nil || len(text) < c.key.NonceSize() {
				return nil, ErrNoKey
			}
			n := c.key.NonceSize()
			open, err := c.key.Open(nil, text[:n], text[n:], []byte(sealed))
			if err != nil {
				return nil, ErrNoKey
			}
			inner := &commonpb.Payload{}
			if err := proto.Unmarshal(open, inner); err != nil {
				return nil, err
			}
			if string(inner.GetMetadata()[encodingKey]) != deflated {
				return inner, nil
			}
			return inflated(inner.GetData())
		case deflated:
			if c.key != nil {
				return nil, ErrNoKey
			}
			return inflated(text)
		}
		if c.key != nil {
			return nil, ErrNoKey // without the key nobody may start runs
		}
		return p, nil
	})
}

func inflated(data []byte) (*commonpb.Payload, error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxPayload+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxPayload {
		return nil, fmt.Errorf("a value of a run has more than %d bytes", maxPayload)
	}
	p := &commonpb.Payload{}
	return p, proto.Unmarshal(text, p)
}

func payload(encoding string, data []byte) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{encodingKey: []byte(encoding)}, Data: data}
}

func each(list []*commonpb.Payload, f func(*commonpb.Payload) (*commonpb.Payload, error)) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(list))
	for i, p := range list {
		var err error
		if out[i], err = f(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}
