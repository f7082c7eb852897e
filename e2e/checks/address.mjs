// What the address of the page says.
import assert from 'node:assert/strict'
import { until } from '../app.mjs'

const hash = (p) => new URL(p.page.url()).hash

export default {
  'the address names what is chosen, and leads there again': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('items')
    await until('the tool', () => hash(p) === '#tool=items')
    await p.run({ values: [1, 2, 3] })
    await p.is('done')
    const id = (await app.api('/api/runs')).runs[0].id
    await until('the run', () => hash(p) === `#tool=items&run=${id}`)
    await p.node('part').click()
    await until('the node', () => hash(p) === `#tool=items&run=${id}&node=each%5B%5D.part`)
    await p.execution(2)
    await until('the execution', () => /&node=each%5B%5D.part&exec=\d+$/.test(hash(p)))
    await p.shows('Args', /value: 2(?!\d)/)
    const link = hash(p)

    await p.page.reload()
    await p.is('done')
    await p.shows('Args', /value: 2(?!\d)/)
    assert.equal(hash(p), link)

    // A link is opened with the token before it, which is gone at once.
    const other = await t.open({ ...app, url: `${app.origin}/#token=${app.token}&${link.slice(1)}` })
    await other.is('done')
    await other.shows('Args', /value: 2(?!\d)/)
    await until('no token', () => hash(other) === link)

    // Each tool, run and node that was chosen is a step back; executions are not.
    await p.tool.selectOption('simple')
    await until('another tool', () => hash(p) === '#tool=simple')
    await p.node('first').waitFor()
    await p.page.goBack()
    await p.shows('Args', /value: 2(?!\d)/)
    assert.equal(hash(p), link)
    await p.page.goBack()
    await until('the run alone', () => hash(p) === `#tool=items&run=${id}`)
    await p.page.goForward()
    await until('the execution again', () => hash(p) === link)
  },

  'a link has no token, and what it names may be gone': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open({ ...app, url: `${app.origin}/#token=${app.token}&tool=holding&run=none&node=gone` }, { permissions: ['clipboard-read', 'clipboard-write'] })
    p.tolerate(/404/)
    const said = await p.page.getByRole('alert').filter({ hasText: 'not there any more' }).innerText()
    assert.match(said, /the run none/)
    assert.match(said, /the node gone/)
    await p.node('waiting').waitFor()
    assert.equal(hash(p), '#tool=holding')
    await p.node('waiting').click()
    await until('the node', () => hash(p) === '#tool=holding&node=waiting')
    await p.button('Copy link').click()
    await until('the link', async () => (await p.page.evaluate(() => navigator.clipboard.readText())) === `${app.origin}/#tool=holding&node=waiting`)
    // The whole address in the same tab, with the token of the process.
    await p.page.goto(`${app.origin}/#token=${app.token}&tool=simple&node=second`)
    await p.shows('Definition', /id: second/)
    await until('the address', () => hash(p) === '#tool=simple&node=second')
  },
}
