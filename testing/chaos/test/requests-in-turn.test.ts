import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
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
