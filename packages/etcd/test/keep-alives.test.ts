import { EventEmitter } from 'node:events'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { KeepAliveCall } from '../src/client/keep-alive-stream.js'
import { KeepAlives } from '../src/client/keep-alives.js'
import { never } from './support/scene.js'

/** The stream of a member that answers when the test has it answer. */
class PuppetStream extends EventEmitter {
  readonly written: string[] = []
  isCancelled = false

  write({ ID }: { readonly ID: string }): void {
    this.written.push(ID)
  }

  cancel(): void {
    this.isCancelled = true
  }

  answer(ID: string, TTL: number): void {
    this.emit('data', { ID, TTL: String(TTL), header: { revision: '7', raftTerm: '3' } })
  }
}

function begin() {
  const clock = new VirtualClock()
  const streams: PuppetStream[] = []
  const keepAlives = new KeepAlives(() => {
    const stream = new PuppetStream()
    streams.push(stream)
    return stream as unknown as KeepAliveCall
  }, clock)
  const ttl = async (ID: string, call = never) => Number((await keepAlives.send(ID, call)).TTL)
  return { clock, streams, keepAlives, ttl }
}

describe('keep-alives to a member', () => {
  it('share a stream, and those of one lease are answered in their order', async () => {
    const { streams, ttl } = begin()
    const answers = [ttl('5'), ttl('6'), ttl('5')]
    expect(streams.map(({ written }) => written)).toEqual([['5', '6', '5']])
    streams[0]?.answer('5', 1)
    streams[0]?.answer('5', 2)
    streams[0]?.answer('6', 3)
    expect(await Promise.all(answers)).toEqual([1, 3, 2])
  })

  it('go over another stream if the member owes an answer for long: it may wait for a leader that hangs', async () => {
    const { clock, streams, ttl } = begin()
    const first = ttl('5')
    await clock.advance(1_000)
    const second = ttl('5')
    streams[1]?.answer('5', 2)
    expect(await second).toBe(2)
    // The first one is only slow, and its answer counts as well.
    expect(streams[0]?.isCancelled).toBe(false)
    streams[0]?.answer('5', 1)
    expect(await first).toBe(1)
    expect(streams[0]?.isCancelled).toBe(true)
    expect(streams[1]?.isCancelled).toBe(false)
  })

  it('stay on a stream that answers one after the other, and on one that owes nothing', async () => {
    const { clock, streams, ttl } = begin()
    const answers = [ttl('5'), ttl('6')]
    await clock.advance(600)
    streams[0]?.answer('5', 1)
    await clock.advance(600)
    answers.push(ttl('7'))
    streams[0]?.answer('6', 2)
    streams[0]?.answer('7', 3)
    expect(await Promise.all(answers)).toEqual([1, 2, 3])
    await clock.advance(60_000)
    const last = ttl('5')
    streams[0]?.answer('5', 4)
    expect(await last).toBe(4)
    expect(streams.length).toBe(1)
  })

  it('leave no stream open that nobody waits for', async () => {
    const { clock, streams, ttl } = begin()
    const call = new AbortableCall()
    const given = ttl('5', call)
    call.abort(new Error('given up'))
    await expect(given).rejects.toThrow('given up')
    await clock.advance(1_000)
    const next = ttl('5')
    expect(streams[0]?.isCancelled).toBe(true)
    streams[1]?.answer('5', 2)
    expect(await next).toBe(2)
  })

  it('are all rejected when the connection is dropped, also those of a stalled stream', async () => {
    const { clock, streams, keepAlives, ttl } = begin()
    const stalled = ttl('5').catch((error: Error) => error.message)
    await clock.advance(1_000)
    const current = ttl('5').catch((error: Error) => error.message)
    keepAlives.end(new Error('dropped'))
    expect(await Promise.all([stalled, current])).toEqual(['dropped', 'dropped'])
    expect(streams.map(({ isCancelled }) => isCancelled)).toEqual([true, true])
  })
})
