import { setImmediate } from 'node:timers/promises'
import { AbortableCall } from '@leasehold/core/store'
import { never } from '@leasehold/testing/job-claims'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { TxnRequest, TxnResponse } from '../src/client/api.js'
import { joinedReads, joinedWrites } from '../src/client/joining.js'
import { TxnLane } from '../src/client/txn-lane.js'

const header = { revision: '7', raftTerm: '3' }

interface Sent {
  readonly request: TxnRequest
  readonly answer: (answer?: TxnResponse) => void
  readonly refuse: (code: number) => void
  readonly isAborted: () => boolean
}

/** A lane to a server that answers when the test has it answer. */
function begin(joining = joinedWrites) {
  const clock = new VirtualClock()
  const sent: Sent[] = []
  const lane = new TxnLane(
    (request, call) =>
      new Promise((resolve, reject) => {
        call.onAbort(() => reject(call.signal.reason))
        sent.push({
          request,
          answer: (answer = answerTo(request)) => resolve(answer),
          refuse: (code) => reject(Object.assign(new Error('refused'), { code, details: 'refused' })),
          isAborted: () => call.aborted,
        })
      }),
    clock,
    joining,
  )
  return { clock, sent, lane }
}

/** Every transaction succeeds, or none. A range has its key, which was written last at this revision. */
function answerTo({ success, failure }: TxnRequest, succeeded = true, modRevision = '1'): TxnResponse {
  const responses = (succeeded ? success : failure).map(({ requestRange }) => {
    return { responseRange: requestRange ? rangeOf(requestRange.key, modRevision) : null }
  })
  return { header, succeeded, responses }
}

function rangeOf(key: Buffer, modRevision: string) {
  const kv = { key, value: key, createRevision: '1', modRevision, lease: '0' }
  return { header, kvs: [kv], more: false, count: '1' }
}

function write(name: string, modRevision = '1'): TxnRequest {
  const key = Buffer.from(name)
  const look = [{ requestRange: { key } }]
  return { compare: [{ result: 0, target: 2, key, modRevision }], success: look, failure: look }
}

function read(name: string): TxnRequest {
  return { compare: [], success: [{ requestRange: { key: Buffer.from(name) } }], failure: [] }
}

async function keyIn(answering: Promise<TxnResponse>): Promise<string> {
  const { header: own, responses } = await answering
  expect(own).toEqual(header)
  return String(responses[0]?.responseRange?.kvs[0]?.key)
}

const names = (count: number) => Array.from({ length: count }, (_, place) => `name ${place}`)

/** Waits until the lane has gone on. */
async function turn(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

/** A lane with four requests under way: the operations that follow share the next one. */
async function beginBusy(joining = joinedWrites) {
  const begun = begin(joining)
  for (const name of names(4)) {
    void begun.lane.send(name, write(name), never)
    await turn()
  }
  return begun
}

describe('transactions of a crowd', () => {
  it('go together, at most four requests at a time, in the order of arrival', async () => {
    const { sent, lane } = begin()
    const answers = names(200).map((name) => keyIn(lane.send(name, write(name), never)))
    await turn()
    expect(sent.length).toBe(4)
    for (let place = 0; place < 7; place += 1) {
      sent[place]?.answer()
      await turn()
      expect(sent.length).toBe(Math.min(place + 5, 7))
    }
    expect(sent.map(({ request }) => request.success.length)).toEqual([32, 32, 32, 32, 32, 32, 8])
    expect(await Promise.all(answers)).toEqual(names(200))
  })

  it('get the answers to their own ranges, where they are reads', async () => {
    const { sent, lane } = begin(joinedReads)
    const answers = names(20).map((name) => keyIn(lane.send(Symbol(name), read(name), never)))
    await turn()
    for (const one of sent) one.answer()
    expect(sent.map(({ request }) => request.success.length)).toEqual([5, 5, 5, 5])
    expect(sent.every(({ request }) => request.compare.length === 0)).toBe(true)
    expect(await Promise.all(answers)).toEqual(names(20))
  })

  it('that write the same name go one after the other in the requests', async () => {
    const { sent, lane } = await beginBusy()
    for (const name of ['same', 'same', 'other', 'same']) void lane.send(name, write(name), never)
    const together: string[][] = []
    for (let place = 0; place < 7; place += 1) {
      sent[place]?.answer()
      await turn()
      together.push((sent[place + 4]?.request.compare ?? []).map(({ key }) => String(key)))
    }
    expect(together.slice(0, 3)).toEqual([['same', 'other'], ['same'], ['same']])
  })

  it('are never sent when they are given up while they wait', async () => {
    const { sent, lane } = await beginBusy()
    const call = new AbortableCall()
    const waiting = lane.send('late', write('late'), call)
    call.abort(new Error('given up'))
    await expect(waiting).rejects.toThrow('given up')
    sent[0]?.answer()
    await turn()
    expect(sent.length).toBe(4)
    expect(call.listeners).toBe(0)
  })

  it('give up their request when all of them are given up', async () => {
    const { sent, lane } = await beginBusy()
    const calls = [new AbortableCall(), new AbortableCall()]
    const waiting = calls.map((call, place) => lane.send(`late ${place}`, write('late'), call))
    sent[0]?.answer()
    await turn()
    calls[0]?.abort(new Error('given up'))
    await expect(waiting[0]).rejects.toThrow('given up')
    expect(sent[4]?.isAborted()).toBe(false)
    calls[1]?.abort(new Error('given up too'))
    await expect(waiting[1]).rejects.toThrow('given up too')
    expect(sent[4]?.isAborted()).toBe(true)
  })

  it('go alone when they were refused together, so that one does not fail the others', async () => {
    const { sent, lane } = await beginBusy()
    const answers = ['good', 'bad'].map((name) => keyIn(lane.send(name, write(name), never)))
    sent[0]?.answer()
    await turn()
    for (const one of sent.slice(1, 4)) one.answer()
    sent[4]?.refuse(5)
    await turn()
    expect(sent.slice(5).map(({ request }) => request.success.length)).toEqual([1, 1])
    sent[5]?.answer()
    sent[6]?.refuse(5)
    expect(await answers[0]).toBe('good')
    await expect(answers[1]).rejects.toThrow('refused')
  })

  it('go once more without those whose comparisons do not hold, which get what they read', async () => {
    const { sent, lane } = await beginBusy()
    const fresh = names(20).map((name) => lane.send(`fresh ${name}`, write(`fresh ${name}`), never))
    const stale = ['one', 'two'].map((name) => lane.send(name, write(name, '0'), never))
    sent[0]?.answer()
    await turn()
    const together = sent[4]
    if (together === undefined) throw new Error('nothing was sent')
    // No comparison and no write is in a transaction within the transaction, whose permissions etcd does not check.
    for (const part of [together.request.compare, together.request.success, together.request.failure])
      expect(part).toHaveLength(22)
    expect(together.request.success.every((operation) => 'requestRange' in operation)).toBe(true)
    together.answer(answerTo(together.request, false))
    for (const [place, name] of ['one', 'two'].entries()) {
      expect(await stale[place]).toMatchObject({ succeeded: false, responses: [{ responseRange: { kvs: [{}] } }] })
      expect(await keyIn(stale[place] as Promise<TxnResponse>)).toBe(name)
    }
    expect(sent).toHaveLength(6)
    expect(sent[5]?.request.compare).toHaveLength(20)
    sent[5]?.answer()
    expect(await Promise.all(fresh.map(keyIn))).toEqual(names(20).map((name) => `fresh ${name}`))
  })

  it('do not go once more when they were given up meanwhile', async () => {
    const { sent, lane } = await beginBusy()
    const call = new AbortableCall()
    const given = lane.send('given up', write('given up'), call)
    const stale = lane.send('stale', write('stale', '0'), never)
    sent[0]?.answer()
    await turn()
    call.abort(new Error('given up'))
    await expect(given).rejects.toThrow('given up')
    sent[4]?.answer(answerTo(sent[4].request, false))
    expect((await stale).succeeded).toBe(false)
    await turn()
    expect(sent).toHaveLength(5)
  })

  it('are unknown together when the server did not answer', async () => {
    const { sent, lane } = await beginBusy()
    const waiting = ['one', 'two'].map((name) => lane.send(name, write(name), never).catch(({ code }) => code))
    sent[0]?.answer()
    await turn()
    sent[4]?.refuse(14)
    expect(await Promise.all(waiting)).toEqual([14, 14])
    expect(sent.length).toBe(5)
  })

  it('do not wait for longer than a second for requests that hang', async () => {
    const { clock, sent, lane } = await beginBusy()
    for (const name of ['five', 'six']) void lane.send(name, write(name), never)
    await clock.advance(999)
    expect(sent.length).toBe(4)
    await clock.advance(1)
    await turn()
    expect(sent.length).toBe(5)
    expect(sent[4]?.request.success.length).toBe(2)
  })
})
