// Runs of others, questions to people, and connections that end.
import assert from 'node:assert/strict'
import { sleep, until } from '../app.mjs'

export default {
  'attach to a run of serve': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', command: 'serve', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await app.connect()
    up.hold('slow')
    const call = app.mcp('tools/call', { name: 'holding', arguments: {} })
    await until('the call', () => up.of('slow').length === 1)
    const runs = await p.tab('Runs')
    await runs.getByRole('listitem').getByRole('button', { name: /holding/ }).first().click()
    await p.look('waiting', /running/)
    await p.look('before', /done/)
    up.release('slow')
    await p.look('after', /done/)
    await p.is('done')
    assert.deepEqual((await call).structuredContent, { after: true })
  },

  'a question is answered on the page': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('question')
    await p.run()
    await p.is('waiting')
    await p.look('sure', /waiting/)
    await p.page.getByText('How many should it be?').first().waitFor()
    await p.page.getByLabel(/^count\b/).fill('7')
    await p.button('Accept').click()
    await p.is('done')
    await p.node('sure').click()
    await p.shows('Out', /count:?\s*7/)
  },

  'a model and roots are answered on the page': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('thinking')
    await p.run()
    await p.is('waiting')
    await p.page.getByText('Which number?').first().waitFor()
    await p.page.getByLabel('Answer of the model').fill('seven')
    await p.button('Answer').click()
    await p.page.getByText(/This answer cannot be used/).first().waitFor()
    await p.page.getByLabel('Answer of the model').fill('7')
    await p.button('Answer').click()
    await p.page.getByLabel('URIs of folders').fill('file:///a\n\n file:///b ')
    await p.button('Answer').click()
    await p.is('done')
    await p.node('folders').click()
    await p.shows('Out', /file:\/\/\/b/)
  },

  'a reconnection loses no event': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    p.tolerate(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK|Failed to fetch|network error/i)
    await p.tool.selectOption('counting')
    await p.run({ rounds: 200, pause: 10 })
    await p.is('running')
    await sleep(300)
    await p.context.setOffline(true)
    await sleep(1000)
    await p.context.setOffline(false)
    await p.is('done')
    const { runs } = await app.api('/api/runs')
    assert.equal(runs[0].executions, 3 * 200 + 3)
    const table = await p.tab('Table')
    await until('every execution', async () => (await table.textContent()).includes(`${runs[0].executions} executions`))
    await p.node('state').click()
    await until('200 executions of state', async () => (await p.executions()) === 200)
  },

  '1,000 executions in 5 s stay responsive': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('counting')
    await p.run({ rounds: 340, pause: 12 })
    await p.is('running')
    let clicks = 0
    let longest = 0
    while (/running/i.test(await p.state())) {
      const began = Date.now()
      await p.node(['state', 'pause', 'more'][clicks++ % 3]).click()
      longest = Math.max(longest, Date.now() - began)
    }
    await p.is('done')
    assert.ok(clicks >= 5, `${clicks} clicks while it ran`)
    assert.ok(longest < 2_000, `a click took ${longest} ms`)
    await p.look('done', /done/)
  },

  'runs are compared, exported and imported': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('simple')
    for (const n of [1, 2]) {
      await p.run({ n })
      await until(`run ${n}`, async () => (await app.api('/api/runs')).runs.filter((r) => r.state === 'done').length === n)
    }
    const runs = await p.tab('Runs')
    await until('two rows', async () => (await runs.getByRole('listitem').filter({ hasText: 'simple' }).count()) === 2)
    const download = p.page.waitForEvent('download')
    await runs.getByRole('button', { name: /^Actions for the run/ }).first().click()
    await p.page.getByRole('menuitem', { name: 'Export as JSON' }).click()
    const file = await (await download).path()
    const chooser = p.page.waitForEvent('filechooser')
    await runs.getByRole('button', { name: 'Import' }).click()
    await (await chooser).setFiles(file)
    await until('three rows', async () => (await runs.getByRole('listitem').filter({ hasText: 'simple' }).count()) === 3)
  },

  'a tool of a server is tried': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    const servers = await p.tab('Servers')
    await servers.getByRole('button', { name: 'Check up' }).click()
    await servers.getByText('echo').first().waitFor()
    await servers.getByRole('button', { name: 'Try echo of up' }).click()
    await p.page.getByRole('dialog').getByRole('button', { name: 'Call' }).click()
    await until('the call', () => up.of('echo').length === 1)
    await p.page.getByRole('dialog').getByText('Answered').waitFor()
  },
}
