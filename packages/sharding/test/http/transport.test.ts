import { systemClock } from '@leasehold/core'
import { type HttpTransport, type HttpTransportOptions, httpTransport, type Receipt } from '@leasehold/sharding'
import { afterEach, describe, expect, test } from 'vitest'
import { SharedSecret } from '../../src/http/shared-secret.js'
import { accepted, accepting, batchOf, event, forever, outcomeOf } from './support/batches.js'

const opened: HttpTransport[] = []

afterEach(async () => {
  for (const transport of opened.splice(0)) {
    for (const region of ['accounts', 'carts', 'a b/ä?']) await transport.close(region)
  }
})

function open(options: Partial<HttpTransportOptions> = {}): HttpTransport {
  const transport = httpTransport({ address: 'http://127.0.0.1:0', ...options })
  opened.push(transport)
  return transport
}

/** A transport that takes batches, and one that sends them. */
async function pair(options: Partial<HttpTransportOptions> = {}) {
  const [receiver, sender] = [open(options), open(options)]
  const { batches, handler } = accepting()
  await receiver.listen('accounts', handler)
  return { receiver, sender, batches }
}

describe('between two processes', () => {
  test('a batch arrives as it was sent, and its receipts come back', async () => {
    const receiver = open()
    const receipts: Receipt[] = [
      accepted,
      { outcome: 'moved', address: 'http://elsewhere' },
      { outcome: 'moved', session: 'grant-2' },
      { outcome: 'refused', reason: 'the queue is full' },
    ]
    const batch = batchOf([
      {
        ...event('a', { type: 'ä', list: [1, null, '\u{1F600}'] }),
        id: 'm-1',
        question: 7,
        wantsReply: true,
        session: 'grant-1',
      },
      { kind: 'answer', question: 3, outcome: { type: 'answered', answer: { balance: 4 } } },
      { kind: 'answer', question: 4, outcome: { type: 'not-delivered', reason: 'full', again: 'grant-1' } },
      { kind: 'answer', question: 5, outcome: { type: 'answered' } },
    ])
    const got: unknown[] = []
    await receiver.listen('accounts', async (taken) => {
      got.push(taken)
      return receipts
    })
    expect(await open().send(receiver.address, batch, forever)).toEqual(receipts)
    expect(got).toEqual([batch])
  })

  test('the address has the port that the system chose', async () => {
    const { receiver, sender } = await pair()
    expect(receiver.address).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/)
    expect(sender.address).toBe('http://127.0.0.1:0')
  })

  test('one server takes the batches of several regions, whatever their names', async () => {
    const receiver = open()
    const [accounts, other] = [accepting(), accepting()]
    await receiver.listen('accounts', accounts.handler)
    await receiver.listen('a b/ä?', other.handler)
    const sender = open()
    await sender.send(receiver.address, batchOf([event('1')]), forever)
    await sender.send(receiver.address, batchOf([event('2')], 'a b/ä?'), forever)
    expect(accounts.batches.flatMap(({ messages }) => messages)).toEqual([event('1')])
    expect(other.batches.flatMap(({ messages }) => messages)).toEqual([event('2')])
    expect(await outcomeOf(receiver.listen('accounts', other.handler))).toEqual([
      'configuration',
      "a region 'accounts' has this transport already: give each region its own name",
    ])
  })

  test('many batches arrive in their order, each once', async () => {
    const { receiver, sender, batches } = await pair()
    for (let index = 0; index < 500; index += 1) {
      await sender.send(receiver.address, batchOf([event('a', index), event('a', `${index} too`)]), forever)
    }
    const events = batches.flatMap(({ messages }) => messages).map((message) => (message as { event: unknown }).event)
    expect(events).toEqual(Array.from({ length: 500 }, (_, index) => [index, `${index} too`]).flat())
  })

  test('batches to several regions at once, and large ones', async () => {
    const { receiver, sender, batches } = await pair()
    const large = 'ä'.repeat(300_000)
    const sent = Array.from({ length: 40 }, () => sender.send(receiver.address, batchOf([event('a', large)]), forever))
    expect((await Promise.all(sent)).flat()).toEqual(sent.map(() => accepted))
    expect(batches.flatMap(({ messages }) => messages)).toEqual(sent.map(() => event('a', large)))
  })
})

describe('the size of a batch', () => {
  test('as many messages are sent as fit, and the rest has no receipts', async () => {
    const { receiver, sender, batches } = await pair({ bodyLimit: 1_000 })
    const messages = Array.from({ length: 30 }, (_, index) => event(`entity-${index}`, 'é'))
    let rest = messages
    while (rest.length > 0) {
      const receipts = await sender.send(receiver.address, batchOf(rest), forever)
      expect(receipts.length).toBeGreaterThan(1)
      rest = rest.slice(receipts.length)
    }
    expect(batches.length).toBeGreaterThan(2)
    expect(batches.flatMap((batch) => batch.messages)).toEqual(messages)
  })

  test('a message that never fits, or is no JSON, is refused alone', async () => {
    const { receiver, sender, batches } = await pair({ bodyLimit: 1_000 })
    const tooLarge = event('large', 'x'.repeat(1_000))
    const noJSON = event('no JSON', 7n as never)
    expect(await sender.send(receiver.address, batchOf([tooLarge, event('a')]), forever)).toEqual([
      { outcome: 'refused', reason: 'the message is too large for a batch of 1000 bytes' },
    ])
    expect(await sender.send(receiver.address, batchOf([noJSON]), forever)).toEqual([
      { outcome: 'refused', reason: 'the event is no JSON' },
    ])
    expect(await sender.send(receiver.address, batchOf([event('a'), tooLarge, event('b')]), forever)).toEqual([
      accepted,
    ])
    expect(batches.flatMap(({ messages }) => messages)).toEqual([event('a')])
  })

  test('a receiver with a lower limit takes nothing of a larger batch', async () => {
    const receiver = open({ bodyLimit: 1_000 })
    const { batches, handler } = accepting()
    await receiver.listen('accounts', handler)
    const [outcome, sentence] = await outcomeOf(
      open().send(receiver.address, batchOf([event('a', 'x'.repeat(3_000_000))]), forever),
    )
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('set the same bodyLimit in all processes')
    expect(batches).toEqual([])
  })
})

describe('the secret', () => {
  test('lets the processes in that know it', async () => {
    const { receiver, sender } = await pair({ secret: 'ein Geheimnis: ä\n' })
    expect(await sender.send(receiver.address, batchOf([event('a')]), forever)).toEqual([accepted])
  })

  test.each([undefined, 'wrong', 'the right one '])('nothing is done without it: %j', async (secret) => {
    const receiver = open({ secret: 'the right one' })
    const { batches, handler } = accepting()
    await receiver.listen('accounts', handler)
    const sender = open(secret === undefined ? {} : { secret })
    const [outcome, sentence] = await outcomeOf(sender.send(receiver.address, batchOf([event('a')]), forever))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('set the same secret in httpTransport() of all processes')
    expect(sentence).not.toContain('the right one')
    expect(batches).toEqual([])
  })

  test('no answer contains it, nor the code that stands for it', async () => {
    const receiver = open({ secret: 'the right one' })
    await receiver.listen('accounts', async () => {
      throw new Error('the right one')
    })
    const url = `${receiver.address}/leasehold-sharding/accounts`
    const code = new SharedSecret('the right one').header
    for (const authorization of [code, 'Bearer wrong', `${code}x`]) {
      for (const [method, body] of [
        ['POST', 'no JSON'],
        ['POST', JSON.stringify(batchOf([event('a')]))],
        ['GET'],
      ] as const) {
        const response = await fetch(url, { method, headers: { authorization }, ...(body && { body }) })
        const said = JSON.stringify([await response.text(), [...response.headers]])
        expect(response.ok).toBe(false)
        expect(said).not.toContain('the right one')
        expect(said).not.toContain(code.slice('Bearer '.length))
      }
    }
  })
})

describe('the limits of the receiver', () => {
  test('batches beyond maxRequests are refused, and taken later', async () => {
    const receiver = open({ maxRequests: 2 })
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let busy = 0
    let isFull = (): void => {}
    const full = new Promise<void>((resolve) => {
      isFull = resolve
    })
    await receiver.listen('accounts', async ({ messages }) => {
      busy += 1
      if (busy === 2) isFull()
      await held
      return messages.map(() => accepted)
    })
    const sender = open()
    const send = () => sender.send(receiver.address, batchOf([event('a')]), forever)
    const first = [send(), send()]
    await full
    const [outcome, sentence] = await outcomeOf(send())
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('429')
    goOn()
    expect(await Promise.all(first)).toEqual([[accepted], [accepted]])
    expect(await send()).toEqual([accepted])
  })
})

describe('closing', () => {
  test('a region that has stopped takes nothing, and the other one goes on', async () => {
    const { receiver, sender, batches } = await pair()
    const carts = accepting()
    await receiver.listen('carts', carts.handler)
    await receiver.close('accounts')
    const [outcome, sentence] = await outcomeOf(sender.send(receiver.address, batchOf([event('a')]), forever))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('has no such region')
    expect(batches).toEqual([])
    expect(await sender.send(receiver.address, batchOf([event('a')], 'carts'), forever)).toEqual([accepted])
  })

  test('a batch that is being taken gets its receipts, and then nobody listens', async () => {
    const receiver = open()
    let begun = (): void => {}
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    await receiver.listen('accounts', async () => {
      begun()
      await held
      return [accepted]
    })
    const sender = open()
    const sent = sender.send(receiver.address, batchOf([event('a')]), forever)
    await hasBegun
    const closed = receiver.close('accounts')
    // A close that does not wait for the receipts has ended the connection by now.
    await new Promise<void>((resolve) => void systemClock.schedule(50, resolve))
    goOn()
    expect(await sent).toEqual([accepted])
    await closed
    const [outcome, sentence] = await outcomeOf(sender.send(receiver.address, batchOf([event('a')]), forever))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('refuses connections')
  })

  test('it can listen again, at the same port', async () => {
    const { receiver, sender } = await pair()
    const { port } = new URL(receiver.address)
    await receiver.close('accounts')
    const again = open({ address: `http://127.0.0.1:${port}` })
    const { batches, handler } = accepting()
    await again.listen('accounts', handler)
    await again.close('accounts')
    await again.listen('accounts', handler)
    await sender.send(again.address, batchOf([event('a')]), forever)
    expect(batches).toHaveLength(1)
  })

  test('a port that is taken is an error that says what to do', async () => {
    const { receiver } = await pair()
    const second = open({ address: receiver.address })
    const [outcome, sentence] = await outcomeOf(second.listen('accounts', accepting().handler))
    expect(outcome).toBe('configuration')
    expect(sentence).toContain('another program listens there: use another port')
    const elsewhere = open({ address: 'http://192.0.2.1:0' })
    const failed = await outcomeOf(elsewhere.listen('accounts', accepting().handler))
    expect(failed[1]).toContain("set listen: { host: '0.0.0.0' }")
  })
})
