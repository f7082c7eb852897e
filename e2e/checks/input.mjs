// The form of arguments.
import assert from 'node:assert/strict'
import { until } from '../app.mjs'

async function widgets(t) {
  const up = await t.upstream()
  const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
  const p = await t.open(app)
  await p.tool.selectOption('widgets')
  const form = await p.input()
  return { app, p, form }
}

// sent runs the tool and returns the arguments that the run had.
async function sent(app, p) {
  const before = (await app.api('/api/runs')).runs.length
  await p.press('Run')
  const id = await until('the run', async () => {
    const { runs } = await app.api('/api/runs')
    return runs.length > before && runs.find((r) => r.state === 'done')?.id && newest(runs).id
  })
  await p.is('done')
  return (await app.api(`/api/runs/${id}`)).run.args
}

const newest = (runs) => runs.reduce((a, b) => (a.began >= b.began ? a : b))

export default {
  'exact JSON of each widget': async (t) => {
    const { app, p, form } = await widgets(t)
    await form.getByRole('textbox', { name: /^text\b/ }).fill('a "quoted" \\ text')
    await form.getByRole('textbox', { name: /^long\b/ }).fill('one\ntwo')
    await form.getByLabel(/^number\b/).fill('1.5')
    await form.getByLabel(/^integer\b/).fill('7')
    await form.getByRole('radiogroup', { name: 'flag' }).getByRole('radio', { name: 'true' }).check()
    await form.getByRole('combobox', { name: /^choice\b/ }).selectOption('green')
    await form.getByRole('button', { name: 'Add list' }).click()
    await form.getByRole('button', { name: 'Add an item to list' }).click()
    await form.getByRole('textbox', { name: /^(list )?1$/ }).fill('first')
    await form.getByRole('button', { name: 'Add an item to list' }).click()
    await form.getByRole('button', { name: 'Add nested' }).click()
    await form.getByRole('group', { name: /^nested/ }).getByRole('textbox', { name: 'inner' }).fill('3')
    await form.getByRole('textbox', { name: /^either\b/ }).fill('{"a": 1}')
    assert.deepEqual(await sent(app, p), {
      text: 'a "quoted" \\ text', long: 'one\ntwo', number: 1.5, integer: 7, flag: true, choice: 'green',
      list: ['first', ''], nested: { inner: 3 }, preset: 'from the schema', either: { a: 1 },
    })
  },

  '0, false and "123" survive': async (t) => {
    const { app, p, form } = await widgets(t)
    await form.getByRole('textbox', { name: /^text\b/ }).fill('123')
    await form.getByLabel(/^number\b/).fill('0')
    await form.getByLabel(/^integer\b/).fill('0')
    await form.getByRole('radiogroup', { name: 'flag' }).getByRole('radio', { name: 'false' }).check()
    const args = await sent(app, p)
    assert.deepEqual({ ...args, preset: undefined }, { text: '123', number: 0, integer: 0, flag: false, preset: undefined })
    await p.node('entry').click()
    await p.shows('Out', /text:?\s*"123"/)
  },

  'JSON and form show the same': async (t) => {
    const { p, form } = await widgets(t)
    await form.getByRole('textbox', { name: /^text\b/ }).fill('0')
    await form.getByLabel(/^integer\b/).fill('5')
    await form.getByRole('radio', { name: 'JSON' }).check()
    const json = form.getByRole('textbox', { name: /^Arguments of/ })
    const written = JSON.parse(await json.inputValue())
    assert.equal(written.text, '0')
    assert.equal(written.integer, 5)
    await json.fill('{"text": "from JSON", "flag": false, "list": ["x"]}')
    await form.getByRole('radio', { name: 'Form' }).check()
    assert.equal(await form.getByRole('textbox', { name: /^text\b/ }).inputValue(), 'from JSON')
    assert.equal(await form.getByRole('textbox', { name: /^(list )?1$/ }).inputValue(), 'x')
    assert.ok(p)
  },

  'errors stand at their field before anything is sent': async (t) => {
    const { app, p, form } = await widgets(t)
    const field = form.getByLabel(/^integer\b/)
    await form.getByRole('textbox', { name: /^text\b/ }).fill('x')
    await field.fill('11')
    await field.blur()
    await until('an invalid field', async () => (await field.getAttribute('aria-invalid')) === 'true')
    if (await p.control('Run').isEnabled()) await p.press('Run')
    assert.equal((await app.api('/api/runs')).runs.length, 0)
    await field.fill('10')
    assert.equal((await sent(app, p)).integer, 10)
  },

  'last inputs are remembered': async (t) => {
    const { app, p, form } = await widgets(t)
    await form.getByRole('textbox', { name: /^text\b/ }).fill('remember me')
    await sent(app, p)
    await p.tool.selectOption('simple')
    await p.tool.selectOption('widgets')
    await until('the last text', async () => (await form.getByRole('textbox', { name: /^text\b/ }).inputValue()) === 'remember me')
  },
}
