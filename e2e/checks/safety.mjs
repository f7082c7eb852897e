// What keeps others from running tools through the page.
import assert from 'node:assert/strict'
import http from 'node:http'
import { until } from '../app.mjs'

// ask sends a request as it is and returns its status and headers.
function ask(app, { route = '/api/state', method = 'GET', headers = {} }) {
  const url = new URL(app.origin)
  return new Promise((done, fail) => {
    const request = http.request({ host: url.hostname, port: url.port, path: route, method, headers }, (response) => {
      response.resume()
      done({ status: response.statusCode, headers: response.headers })
    })
    request.on('error', fail)
    request.end()
  })
}

export default {
  'no token: 401': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const routes = ['/api/state', '/api/file', '/api/runs', '/api/servers', '/api/events', '/api/tools/simple/graph']
    for (const route of routes) {
      assert.equal((await ask(app, { route })).status, 401, route)
      assert.equal((await ask(app, { route, headers: { Authorization: 'Bearer wrong' } })).status, 401, route)
    }
    assert.equal((await ask(app, { route: '/api/sessions', method: 'POST' })).status, 401)
    assert.equal((await ask(app, { headers: { Authorization: `Bearer ${app.token}` } })).status, 200)
    assert.notEqual((await ask(app, { route: `/api/state?token=${app.token}` })).status, 200)
  },

  'foreign Host and Origin: 403': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const Authorization = `Bearer ${app.token}`
    const port = new URL(app.origin).port
    for (const route of ['/', '/api/state']) {
      for (const Host of ['example.com', `example.com:${port}`, '127.0.0.1:1', `127.0.0.1.example.com:${port}`]) {
        assert.equal((await ask(app, { route, headers: { Authorization, Host } })).status, 403, `${route} of ${Host}`)
      }
      for (const Origin of ['http://example.com', 'null', 'http://127.0.0.1:1', `https://127.0.0.1:${port}`]) {
        assert.equal((await ask(app, { route, headers: { Authorization, Origin } })).status, 403, `${route} from ${Origin}`)
      }
    }
    assert.equal((await ask(app, { headers: { Authorization, Origin: app.origin } })).status, 200)
  },

  'strict headers, and the token leaves the address bar': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const { headers } = await ask(app, { route: '/' })
    const policy = headers['content-security-policy']
    for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(part), `${part} in ${policy}`)
    }
    assert.ok(!/unsafe/.test(policy), policy)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    const page = await t.open(app)
    await until('no token in the address', () => !page.page.url().includes(app.token))
    await page.page.reload() // the token is kept for this tab
    await page.tool.waitFor()
    assert.deepEqual(await page.context.cookies(), [])
  },

  'a page without a token says what to do': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const page = await t.open(app)
    page.tolerate(/401/)
    const other = await page.context.newPage()
    await other.goto(`${app.origin}/`)
    await other.getByText(/open the (URL|address)|token/i).first().waitFor()
  },
}
