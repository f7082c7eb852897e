// Texts of others are texts: nothing in them runs.
import assert from 'node:assert/strict'
import { until } from '../app.mjs'

const script = `alert('executed')`
const payloads = [
  `<script>${script}</script>`,
  `<img src=x onerror="${script}">`,
  `<svg onload="${script}"><script>${script}</script></svg>`,
  `[click](javascript:${script}) <javascript:${script}> ![x](javascript:${script})`,
  `"><iframe srcdoc="<script>parent.${script}</script>"></iframe>`,
  `<a href="javascript:${script}">link</a><style>@import '//example.com'</style>`,
  `data:text/html,<script>${script}</script>`,
]
const all = payloads.join('\n\n')
const yaml = (value) => JSON.stringify(value)

export default {
  'payloads in names, descriptions, outputs and errors execute nothing': async (t) => {
    const up = await t.upstream()
    up.tools = [
      { name: payloads[1], title: all, description: all, inputSchema: { type: 'object', description: all, properties: { [payloads[2]]: { type: 'string', description: all, default: all } } } },
      { name: 'echo', description: all, inputSchema: { type: 'object' } },
    ]
    up.on('echo', () => ({ html: all, list: payloads, [payloads[1]]: payloads[2], url: `javascript:${script}`, svg: `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"/>` }))
    up.on('flaky', () => {
      throw new Error(all)
    })
    const text = `version: "1.0"
server: {name: ${yaml(payloads[0])}, version: ${yaml(payloads[1])}, title: ${yaml(all)}, instructions: ${yaml(all)}}
mcpServers:
  up: {url: ${yaml(up.url)}}
tools:
  - name: ${yaml(payloads[1].replaceAll(' ', ''))}
    title: ${yaml(all)}
    description: ${yaml(all)}
    inputSchema:
      type: object
      description: ${yaml(all)}
      properties:
        ${yaml(payloads[1])}: {type: string, title: ${yaml(payloads[2])}, description: ${yaml(all)}, default: ${yaml(all)}}
        choice: {type: string, enum: ${yaml(payloads)}}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: up, tool: echo, args: {html: ${yaml(all)}}, next: how}
      - id: how
        type: switch
        conditions: [{rule: {"==": [${yaml(payloads[1])}, 1]}, next: exit}]
        next: fails
      - {id: fails, type: mcp, server: up, tool: flaky, args: {}, next: exit}
      - {id: exit, type: exit}
  - name: asks
    description: ${yaml(all)}
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: sure}
      - {id: sure, type: ask, message: ${yaml(all)}, schema: {type: object, properties: {x: {type: string, title: ${yaml(payloads[1])}, description: ${yaml(all)}}}}, next: exit}
      - {id: exit, type: exit}
`
    const app = await t.app({ text })
    const p = await t.open(app)
    await p.node('call').waitFor()
    await p.tab('Input')
    await p.press('Run')
    await p.is('failed')
    for (const id of ['entry', 'call', 'how', 'fails']) {
      await p.node(id).click()
      for (const tab of ['In', 'Args', 'Out', 'Document', 'Definition', 'Error', 'Pin', 'Watch']) await p.inspect(tab)
    }
    for (const tab of ['Timeline', 'Table', 'Events', 'Console', 'Problems', 'Tools', 'Runs', 'Input']) await p.tab(tab)
    const servers = await p.tab('Servers')
    await servers.getByRole('button', { name: /^Check/ }).first().click()
    await servers.getByText('onerror').first().waitFor()
    await p.tab('Console')
    const expression = p.prompt
    await expression.fill('$.call.html')
    await expression.press('Enter')
    await p.page.getByRole('log', { name: 'Console' }).getByText('onerror').first().waitFor()
    await p.tab('YAML')
    await p.editor.getByText('javascript:').first().hover()
    await p.tab('Graph')
    await p.tool.selectOption('asks')
    await p.tab('Input')
    await p.press('Run')
    await p.is('waiting')
    await until('the question', async () => (await p.page.getByText('onerror').count()) > 0)
    const links = await p.page.locator('a[href]').evaluateAll((all) => all.map((a) => a.href))
    assert.deepEqual(links.filter((l) => !/^(https?:|blob:)/.test(l)), [])
    assert.equal(await p.page.locator('iframe, object, embed').count(), 0)
  },
}
