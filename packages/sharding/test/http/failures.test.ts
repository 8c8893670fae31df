import type { Socket } from 'node:net'
import { httpTransport } from '@leasehold/sharding'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, test } from 'vitest'
import { accepted, batchOf, event, forever, outcomeOf } from './support/batches.js'
import { answer, ScriptedServer } from './support/scripted-server.js'

const receipts = JSON.stringify([accepted])

function sender() {
  return httpTransport({ address: 'http://127.0.0.1:1', listen: false })
}

/** How a batch ends that is sent to a server with this behaviour. */
async function sentTo(onRequest: (socket: Socket, count: number) => void) {
  await using server = await ScriptedServer.start({ onRequest })
  const outcome = await outcomeOf(sender().send(server.address, batchOf([event('a')]), forever))
  return outcome
}

describe('certainly not delivered', () => {
  test.each([
    [301, 'use the URL to which it leads'],
    [307, 'use the URL to which it leads'],
    [400, 'run one version of @leasehold/sharding everywhere'],
    [401, 'set the same secret or tls in all processes'],
    [403, 'past your own checks'],
    [404, 'has no such region'],
    [405, 'mount the transport for all methods'],
    [409, 'run one version everywhere'],
    [413, 'set the same bodyLimit in all processes'],
    [415, 'mount the transport before the parsers'],
    [429, 'has too much to do'],
    [431, 'without a proxy'],
  ])('an answer %i, with what to do', async (status, advice) => {
    const [outcome, sentence] = await sentTo((socket) => socket.write(answer(status, 'refused')))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain(advice)
    expect(sentence).toContain(`it answered ${status}`)
  })

  test('the answer of another process says more', async () => {
    const said = JSON.stringify({ error: `wrong\r\nversion${'!'.repeat(5_000)}` })
    const [, sentence] = await sentTo((socket) => socket.write(answer(409, said)))
    expect(sentence).toContain('it answered 409: wrong  version!!!')
    expect(sentence.length).toBeLessThan(600)
  })

  test('a refused connection', async () => {
    const server = await ScriptedServer.start({})
    await server[Symbol.asyncDispose]()
    const [outcome, sentence] = await outcomeOf(sender().send(server.address, batchOf([event('a')]), forever))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('refuses connections: the process has ended, or it listens elsewhere')
  })

  test('a host that is not known', async () => {
    const [outcome, sentence] = await outcomeOf(
      sender().send('http://no-such-host.invalid:7001', batchOf([event('a')]), forever),
    )
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('use an address that the other processes can resolve')
  })

  test.each(['', 'nonsense', 'memory:7', 'ftp://127.0.0.1:1', 'http://'])(
    'an address that is none: %j',
    async (address) => {
      const [outcome, sentence] = await outcomeOf(sender().send(address, batchOf([event('a')]), forever))
      expect(outcome).toBe('not-delivered')
      expect(sentence).toContain('use httpTransport() in all processes')
    },
  )

  test('a signal that has aborted before', async () => {
    await using server = await ScriptedServer.start({ onRequest: (socket) => socket.write(answer(200, receipts)) })
    const sent = sender().send(server.address, batchOf([event('a')]), AbortSignal.abort('stopped'))
    expect((await outcomeOf(sent))[0]).toBe('not-delivered')
  })

  test('no connection within the time limit', async () => {
    const clock = new VirtualClock()
    const transport = httpTransport({ address: 'http://127.0.0.1:1', listen: false, clock, requestTimeout: 1_000 })
    // The time is over before the system could make a connection.
    await using server = await ScriptedServer.start({})
    const sent = outcomeOf(transport.send(server.address, batchOf([event('a')]), forever))
    await clock.advance(1_000)
    const [outcome, sentence] = await sent
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('no answer within 1000 ms')
  })

  test('https where the other process has none', async () => {
    await using server = await ScriptedServer.start({
      onConnection: (socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n'),
    })
    const address = server.address.replace('http:', 'https:')
    const [outcome, sentence] = await outcomeOf(sender().send(address, batchOf([event('a')]), forever))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('cannot be connected to')
  })
})

describe('unknown', () => {
  test.each([
    [408, ''],
    [500, JSON.stringify({ error: 'the batch failed' })],
    [502, '<html>'],
    [503, ''],
    [504, ''],
    [204, ''],
    [201, receipts],
    [303, ''],
    [418, ''],
  ])('an answer %i', async (status, body) => {
    const [outcome, sentence] = await sentTo((socket) => socket.write(answer(status, body)))
    expect(outcome).toBe('unknown')
    expect(sentence).toContain('may have taken the messages')
  })

  test.each([
    '',
    'nonsense',
    '{}',
    'null',
    '7',
    '[]',
    JSON.stringify([accepted, accepted]),
    '[null]',
    '["accepted"]',
    '[{"outcome":"lost"}]',
    '[{"outcome":"refused"}]',
    '[{"outcome":"moved","address":7}]',
    '[[]]',
  ])('an answer without a receipt for the message: %s', async (body) => {
    expect((await sentTo((socket) => socket.write(answer(200, body))))[0]).toBe('unknown')
  })

  test.each<[string, (socket: Socket) => void]>([
    ['the connection is reset', (socket) => socket.resetAndDestroy()],
    ['the connection ends', (socket) => socket.end()],
    ['the answer is no HTTP', (socket) => socket.write('SSH-2.0-OpenSSH_9\r\n\r\n')],
    ['the answer stops in the middle', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{"out')],
    [
      'the answer switches to another protocol',
      (socket) => socket.write('HTTP/1.1 101 Other\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
    ['the header has no end', (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}`)],
    ['the answer is too long', (socket) => socket.write(answer(200, `"${'y'.repeat(9_000_000)}"`))],
  ])('%s', async (_, onRequest) => {
    const [outcome, sentence] = await sentTo(onRequest)
    expect(outcome).toBe('unknown')
    expect(sentence).toContain('may have taken the messages')
  })

  test('no answer within the time limit', async () => {
    const clock = new VirtualClock()
    const transport = httpTransport({ address: 'http://127.0.0.1:1', listen: false, clock, requestTimeout: 1_000 })
    let arrived = (): void => {}
    const hasArrived = new Promise<void>((resolve) => {
      arrived = resolve
    })
    await using server = await ScriptedServer.start({ onRequest: () => arrived() })
    const sent = outcomeOf(transport.send(server.address, batchOf([event('a')]), forever))
    await hasArrived
    await clock.advance(1_000)
    const [outcome, sentence] = await sent
    expect(outcome).toBe('unknown')
    expect(sentence).toContain('no answer within 1000 ms')
  })

  test('the signal aborts after the request was sent', async () => {
    const controller = new AbortController()
    await using server = await ScriptedServer.start({ onRequest: () => controller.abort('stopped') })
    const [outcome, sentence] = await outcomeOf(sender().send(server.address, batchOf([event('a')]), controller.signal))
    expect(outcome).toBe('unknown')
    expect(sentence).toContain('stopped')
  })

  test('a connection that was used before is reset after the second request', async () => {
    await using server = await ScriptedServer.start({
      onRequest: (socket, count) => (count === 1 ? socket.write(answer(200, receipts)) : socket.resetAndDestroy()),
    })
    const transport = sender()
    expect(await transport.send(server.address, batchOf([event('a')]), forever)).toEqual([accepted])
    expect((await outcomeOf(transport.send(server.address, batchOf([event('b')]), forever)))[0]).toBe('unknown')
    // Nothing is sent twice, and the next request has a connection of its own.
    expect(server.connections).toBe(1)
    expect(await transport.send(server.address, batchOf([event('c')]), forever)).toEqual([accepted])
    expect(server.connections).toBe(2)
  })
})

test('a connection serves many requests', async () => {
  await using server = await ScriptedServer.start({ onRequest: (socket) => socket.write(answer(200, receipts)) })
  const transport = sender()
  for (let index = 0; index < 50; index += 1) await transport.send(server.address, batchOf([event('a')]), forever)
  expect(server.connections).toBe(1)
})

test('an answer that came before the body was read does not spoil the next one', async () => {
  await using server = await ScriptedServer.start({ onRequest: (socket) => socket.write(answer(413, '')) })
  const transport = sender()
  for (let index = 0; index < 3; index += 1) {
    const sent = transport.send(server.address, batchOf([event('a', 'x'.repeat(100_000))]), forever)
    expect((await outcomeOf(sent))[0]).toBe('not-delivered')
  }
})
