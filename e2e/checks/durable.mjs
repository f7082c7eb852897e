// Durable runs: those of testdata/durable and, where MCPGRAPH_TEMPORAL has the address
// of a server, those of Temporal.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { root, until } from '../app.mjs'
import { axe, violations } from './access.mjs'

// page opens the page of a program whose durable runs live in it.
async function page(t, options) {
  const up = await t.upstream()
  const app = await t.app({ file: 'page.yaml', durable: true, env: { UPSTREAM: up.url } })
  return { up, app, p: await t.open(app, options) }
}

const row = (p, text) => p.page.getByRole('tabpanel', { name: /^Runs/ }).getByRole('listitem').filter({ hasText: text })
const trouble = (p) => p.page.getByRole('status', { name: 'State of durable runs' })
const says = (p, pattern) => until(`the page says ${pattern}`, async () => pattern.test((await trouble(p).textContent()) ?? ''), 25_000)
const switched = (app, name) => path.join(app.folder, name)

// answered starts the tool question on the engine, and answers it on the page.
async function answered(p) {
  await p.tool.selectOption('question')
  await p.run()
  await p.is('waiting')
  const runs = await p.tab('Runs')
  await runs.getByRole('listitem').first().getByText('durable', { exact: true }).waitFor()
  await p.look('sure', /waiting/)
  await p.page.getByText('How many should it be?').first().waitFor()
  await p.page.getByLabel(/^count\b/).fill('7')
  await p.button('Accept').click()
  await p.is('done')
  await p.look('exit', /done/)
  await p.node('sure').click()
  await p.shows('Out', /count:?\s*7/)
}

const withoutTemporal = {
  'a durable run is started, answered and seen to its end': async (t) => {
    const { p } = await page(t)
    await answered(p)
    // One here stands beside it, and can be debugged.
    await p.page.getByRole('combobox', { name: 'Where to run' }).selectOption('here')
    await p.breakpoint('sure')
    await p.run()
    await p.is('paused')
    await p.press('Stop')
    await p.is('stopped')
    const runs = await p.tab('Runs')
    await runs.getByRole('combobox', { name: 'Kept' }).selectOption('here')
    await until('one run here', async () => (await runs.getByRole('listitem').count()) === 1)
    assert.equal(await runs.getByRole('listitem').getByText('durable', { exact: true }).count(), 0)
  },

  'a child leads to its parent, also to one that the list does not have': async (t) => {
    const { p } = await page(t)
    const runs = await p.tab('Runs')
    const child = runs.getByRole('listitem').filter({ has: p.page.getByText('child', { exact: true }) })
    await child.getByRole('button').first().click()
    const given = await p.tab('Input')
    await given.waitFor()
    await p.page.getByRole('button', { name: 'parent run' }).click()
    await p.node('entry').click()
    await p.shows('Out', /n:?\s*1\b/) // the arguments of old-1
    assert.equal(await p.page.getByRole('button', { name: 'parent run' }).count(), 0)
    await p.tab('Runs')
    await child.getByRole('button', { name: /^Actions/ }).click()
    await p.page.getByRole('menuitem', { name: 'Show the parent run' }).waitFor()
    await p.page.keyboard.press('Escape')
  },

  'a durable run shows its calls, and is cancelled after a confirmation': async (t) => {
    const { up, p } = await page(t)
    await p.tool.selectOption('holding')
    up.hold('slow')
    await p.run()
    await p.look('waiting', /running/)
    await p.look('before', /done/)
    await p.node('waiting').click()
    await p.shows('Out', /Calls slow of up.*worker-1@test.*2 of 5: two of five/s)
    const cancel = p.control('Cancel the run')
    await cancel.click()
    await p.page.getByRole('dialog').getByRole('button', { name: 'Let it run' }).click()
    await p.is('running')
    assert.equal(up.of('slow')[0].state, 'running')
    await cancel.click()
    await p.page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click()
    await p.is('cancelled')
    await until('the call is cancelled', () => up.of('slow')[0].state === 'cancelled')
    assert.ok(await cancel.isDisabled())
  },

  'older durable runs are loaded, one of another version shows its records': async (t) => {
    const { p } = await page(t)
    const runs = await p.tab('Runs')
    await until('the first part', async () => (await runs.getByRole('listitem').count()) === 50)
    await runs.getByRole('button', { name: 'Load older durable runs' }).click()
    await until('all runs', async () => (await runs.getByRole('listitem').count()) === 60)
    assert.equal(await runs.getByRole('button', { name: 'Load older durable runs' }).count(), 0)
    await row(p, 'other version').getByRole('button', { name: /simple/ }).first().click()
    await p.page.getByText('The graph of this run is not known').waitFor()
    await p.is('done')
    await p.page.getByRole('button', { name: 'Show the table' }).click()
    const table = await p.tab('Table')
    await table.getByRole('row', { name: /first/ }).click()
    await p.shows('Args', /n:?\s*0/)
    await p.shows('Definition', /Not in the file/)
    p.tolerate(/409/)
    await p.shows('Document', /another version of the file/)
    await p.page.getByRole('button', { name: 'Show the graph of the file' }).click()
    await p.node('second').waitFor()
    await runs.getByRole('combobox', { name: 'Kept' }).selectOption('version')
    await until('those of this file', async () => (await runs.getByRole('listitem').count()) === 59)
  },

  'no worker and an unreachable engine are said, and heal': async (t) => {
    const { up, app, p } = await page(t)
    await p.tool.selectOption('holding')
    up.hold('slow')
    await p.run()
    await p.look('waiting', /running/)
    await writeFile(switched(app, 'no-worker'), '')
    await says(p, /^No worker for the version of the file/)
    await rm(switched(app, 'no-worker'))
    await says(p, /^$/)
    await writeFile(switched(app, 'unreachable'), '')
    await says(p, /^Temporal at a test cannot be reached; trying again: connection refused/)
    await p.look('before', /done/)
    p.tolerate(/503/)
    await p.press('Run')
    await p.page.getByRole('alert').getByText(/Durable run of holding: Temporal at a test cannot be reached/).waitFor()
    await rm(switched(app, 'unreachable'))
    await says(p, /^$/)
    up.release('slow')
    await p.is('done')
    await p.look('after', /done/)
  },

  'axe finds nothing on a page with durable runs, also where it is narrow': async (t) => {
    const { app, p } = await page(t)
    await p.context.addInitScript(axe)
    await p.page.reload()
    await p.tool.waitFor()
    await p.tool.selectOption('question')
    await p.run()
    await p.is('waiting')
    await p.tab('Runs')
    await writeFile(switched(app, 'no-worker'), '')
    await says(p, /No worker/)
    for (const theme of ['light', 'dark']) {
      await p.page.emulateMedia({ colorScheme: theme })
      assert.deepEqual(await violations(p), [], theme)
    }
    await p.page.setViewportSize({ width: 800, height: 720 })
    assert.deepEqual(await violations(p), [], 'narrow')
    assert.ok((await p.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, 'the page scrolls sideways')
    await p.control('Cancel the run').click()
    assert.deepEqual(await violations(p), [], 'confirmation')
  },
}

const withTemporal = {
  'a run of Temporal is started, answered and seen to its end': async (t) => {
    const up = await t.upstream()
    // A version of the file that no other worker has.
    const text = `${await readFile(path.join(root, 'e2e/testdata/page.yaml'), 'utf8')}# ${Math.random()}\n`
    const app = await t.app({ text, args: ['--engine', 'temporal', '--temporal', process.env.MCPGRAPH_TEMPORAL], env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    const worker = spawn(process.env.MCPGRAPH_BINARY, ['worker', app.file, '--temporal', process.env.MCPGRAPH_TEMPORAL], { env: { ...process.env, UPSTREAM: up.url }, stdio: 'ignore' })
    t.later(() => worker.kill('SIGKILL'))
    await answered(p)
    // A call under way ends with its run.
    await p.tab('Tools')
    await p.tool.selectOption('holding')
    up.hold('slow')
    await p.run()
    await p.look('waiting', /running/)
    await p.control('Cancel the run').click()
    await p.page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click()
    await p.is('cancelled')
    await until('the call is cancelled', () => up.of('slow')[0].state === 'cancelled')
  },
}

export default process.env.MCPGRAPH_TEMPORAL ? { ...withoutTemporal, ...withTemporal } : withoutTemporal
