// The picture of a tool.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { root, until } from '../app.mjs'

// inside reports whether the box of an element lies in another one.
async function inside(element, frame) {
  const [a, b] = [await element.boundingBox(), await frame.boundingBox()]
  return a && b && a.x >= b.x - 1 && a.y >= b.y - 1 && a.x + a.width <= b.x + b.width + 1 && a.y + a.height <= b.y + b.height + 1
}

// fits waits until all nodes of the tool are drawn inside of the graph's region.
async function fits(page, count) {
  await until(`${count} nodes`, async () => (await page.ids()).length === count)
  for (const id of new Set(await page.ids())) {
    await until(`${id} in sight`, () => inside(page.node(id), page.graph))
  }
}

const examples = readdirSync(path.join(root, 'examples')).filter((f) => f.endsWith('.yaml') && !f.endsWith('.test.yaml'))

export default {
  'every example draws': async (t) => {
    assert.ok(examples.length >= 10)
    for (const file of examples) {
      const app = await t.app({ file: path.join(root, 'examples', file), env: exampleEnv })
      const page = await t.open(app)
      const { tools } = await app.api('/api/state')
      assert.ok(tools.length > 0, file)
      for (const tool of tools) {
        await page.tool.selectOption(tool.name)
        const graph = await app.api(`/api/tools/${encodeURIComponent(tool.name)}/graph`)
        await fits(page, graph.nodes.length)
        for (const node of graph.nodes) {
          assert.match(await page.name(node.id), new RegExp(`\\b${node.type}\\b`))
        }
        await until(`edges of ${tool.name}`, async () => (await page.graph.locator('.react-flow__edge').count()) >= Math.min(graph.edges.length, 1))
      }
      page.mustBeClean()
      await page.context.close()
      t.pages = []
      await app.stop()
    }
  },

  'the picture fits again when the tool changes': async (t) => {
    const up = await t.upstream()
    const page = await t.open(await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } }))
    for (const [tool, count] of [['simple', 4], ['items', 5], ['counting', 6], ['simple', 4], ['nested', 6]]) {
      await page.tool.selectOption(tool)
      await fits(page, count)
    }
    const canvas = await page.graph.boundingBox()
    await page.page.mouse.move(canvas.x + 20, canvas.y + canvas.height / 2)
    await page.page.mouse.down()
    await page.page.mouse.move(canvas.x + 600, canvas.y + canvas.height / 2 + 300, { steps: 4 })
    await page.page.mouse.up()
    await page.button('Fit the graph').click()
    await fits(page, 6)
  },

  'a body folds': async (t) => {
    const up = await t.upstream()
    const page = await t.open(await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } }))
    await page.tool.selectOption('items')
    await page.node('part').waitFor()
    await page.graph.getByRole('button', { name: /^Fold each/ }).click()
    await page.node('part').waitFor({ state: 'detached' })
    await page.graph.getByRole('button', { name: /^Unfold each/ }).click()
    await page.node('part').waitFor()
  },

  'search leads to a node': async (t) => {
    const up = await t.upstream()
    const page = await t.open(await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } }))
    await page.tool.selectOption('counting')
    await page.node('pause').waitFor()
    const search = page.page.getByRole('searchbox', { name: 'Search nodes' })
    await search.fill('paus')
    await search.press('Enter')
    await page.shows('Definition', /id: pause/)
  },

  'the picture is exported as SVG and PNG': async (t) => {
    const up = await t.upstream()
    const page = await t.open(await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } }))
    await page.tool.selectOption('items')
    await page.node('part').waitFor()
    for (const [name, begin] of [['Save as SVG', '<svg'], ['Save as PNG', '\x89PNG']]) {
      const download = page.page.waitForEvent('download')
      await page.button('Export').click()
      await page.page.getByRole('menuitem', { name }).click()
      const chunks = []
      for await (const chunk of await (await download).createReadStream()) chunks.push(chunk)
      const data = Buffer.concat(chunks).toString('latin1')
      assert.ok(data.startsWith(begin) || data.startsWith('<?xml'), `${name} begins with ${data.slice(0, 20)}`)
      assert.ok(data.length > 1000, `${name} has ${data.length} bytes`)
    }
  },

  '1,000 nodes draw': async (t) => {
    const nodes = ['      - {id: entry, type: entry, next: n0}']
    for (let i = 0; i < 998; i++) {
      const next = i === 997 ? 'exit' : `n${i + 1}`
      nodes.push(
        i % 10 === 0 && i < 980
          ? `      - {id: n${i}, type: switch, conditions: [{rule: {">": [{var: "1"}, 0]}, next: n${i + 5}}], next: ${next}}`
          : `      - {id: n${i}, type: transform, transform: {expr: '${i}'}, next: ${next}}`,
      )
    }
    nodes.push('      - {id: exit, type: exit}')
    const text = `version: "1.0"\nserver: {name: large, version: 1.0.0}\ntools:\n  - name: large\n    description: Large\n    inputSchema: {type: object}\n    nodes:\n${nodes.join('\n')}\n`
    const page = await t.open(await t.app({ text }))
    await page.node('entry').waitFor({ timeout: 30_000 })
    // Nodes out of sight need not be in the document; a search brings each.
    const search = page.page.getByRole('searchbox', { name: 'Search nodes' })
    for (const id of ['n500', 'n997', 'n3']) {
      await search.fill(id)
      await search.press('Enter')
      await until(`${id} in sight`, async () => (await page.node(id).count()) > 0 && inside(page.node(id), page.graph))
    }
    const began = Date.now()
    await page.node('n3').click()
    await page.shows('Definition', /id: n3/)
    assert.ok(Date.now() - began < 5_000, 'a click takes more than 5 s')
  },
}

const exampleEnv = Object.fromEntries(['GITHUB_TOKEN', 'NOTES_KEY', 'API_KEY'].map((name) => [name, 'x']))
