import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { RequestsInTurn } from '../src/servers/requests-in-turn.js'

it('forwards one request at a time, with its body, and gives each its own answer', async () => {
  let underWay = 0
  let most = 0
  const server = createServer(async (request, response) => {
    underWay += 1
    most = Math.max(most, underWay)
    let body = ''
    for await (const text of request) body += text
    await new Promise((resolve) => setImmediate(resolve))
    underWay -= 1
    response.end(`${request.method} ${request.url} ${body}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const front = await RequestsInTurn.to((server.address() as AddressInfo).port)
  onTestFinished(() => front.close())

  const answers = await Promise.all(
    ['a', 'b', 'c'].map(async (body) => {
      const answer = await fetch(`http://127.0.0.1:${front.port}/${body}`, { method: 'PUT', body })
      return await answer.text()
    }),
  )

  expect(answers).toEqual(['PUT /a a', 'PUT /b b', 'PUT /c c'])
  expect(most).toBe(1)
})

/** Sends a request, and closes the connection when the front has taken the request. */
async function goAway(port: number, path: string): Promise<void> {
  const headers = { expect: '100-continue', 'content-length': 0 }
  const asked = request({ host: '127.0.0.1', port, method: 'PUT', path, headers })
  asked.on('error', () => {})
  asked.on('continue', () => asked.destroy())
  asked.flushHeaders()
  await new Promise((resolve) => asked.on('close', resolve))
}

it('forwards a request although its client has gone', async () => {
  const seen: string[] = []
  let goOn = (): void => {}
  const standing = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const server = createServer(async ({ url = '' }, response) => {
    seen.push(url)
    await standing
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const front = await RequestsInTurn.to((server.address() as AddressInfo).port)
  onTestFinished(() => front.close())
  const ask = (path: string) => fetch(`http://127.0.0.1:${front.port}${path}`)

  const first = ask('/first')
  await vi.waitFor(() => expect(seen).toEqual(['/first']))
  await goAway(front.port, '/late')
  // When the front has taken this one, it knows that the client of the one before has gone.
  await goAway(front.port, '/later')
  const last = ask('/last')
  goOn()
  await Promise.all([first, last])
  expect(seen).toEqual(['/first', '/late', '/later', '/last'])
})
