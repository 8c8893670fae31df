import { setImmediate as turn } from 'node:timers/promises'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { type Operation, Requests, type RequestTransport } from '@leasehold/core/store-kit'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

type Query = string

interface Sent {
  readonly operations: readonly Operation<Query, string>[]
  readonly queries: readonly Query[]
  readonly call: StoreCall
  /** Answers each operation with its query. */
  answer(): Promise<void>
  refuse(message: string): Promise<void>
  /** Ends the request, in which the test has settled the operations. */
  end(): Promise<void>
}

/** Requests to a server that answers when the test has it answer. */
function begin(options: Partial<RequestTransport<Query, string>> = {}) {
  const clock = new VirtualClock()
  const sent: Sent[] = []
  const requests = new Requests<Query, string>(
    {
      most: 2,
      smallest: 1,
      largest: 8,
      isOfOne: (error) => error instanceof Error && error.message === 'refused',
      send: (operations, call) =>
        new Promise((resolve, reject) => {
          call.onAbort(() => reject(call.signal.reason))
          const end = async (): Promise<void> => {
            resolve()
            await turn()
            await turn()
          }
          const answer = async (): Promise<void> => {
            for (const operation of operations) operation.resolve(operation.query)
            await end()
          }
          const refuse = async (message: string): Promise<void> => {
            reject(new Error(message))
            await turn()
            await turn()
          }
          const queries = operations.map(({ query }) => query)
          sent.push({ operations, queries, call, answer, refuse, end })
        }),
      ...options,
    },
    clock,
  )
  const run = (count: number, call: StoreCall = new AbortableCall(), prefix = ''): Promise<string>[] =>
    Array.from({ length: count }, (_, place) => requests.run(`${prefix}${place}`, call))
  const sizes = (): readonly number[] => sent.map(({ operations }) => operations.length)
  return { clock, sent, requests, run, sizes }
}

const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error: Error) => error.message,
  )

describe('operations of one turn', () => {
  it('are divided among the requests that may go', async () => {
    const { run, sizes, sent } = begin()
    const answers = run(10)
    await turn()
    expect(sizes()).toEqual([5, 5])
    for (const one of sent) await one.answer()
    expect(await Promise.all(answers)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
  })

  it('share one request if they are few', async () => {
    const { run, sizes } = begin({ smallest: 4 })
    void run(4)
    await turn()
    expect(sizes()).toEqual([4])
  })

  it('wait while the most requests are under way, and then go together', async () => {
    const { run, sizes, sent } = begin()
    void run(20)
    await turn()
    expect(sizes()).toEqual([8, 8])
    void run(3)
    await turn()
    expect(sizes()).toEqual([8, 8])
    await sent[0]?.answer()
    expect(sizes()).toEqual([8, 8, 7])
    expect(sent[2]?.queries).toEqual(['16', '17', '18', '19', '0', '1', '2'])
  })

  it('are divided where some must not share a request', async () => {
    const { requests, sent } = begin({
      most: Number.POSITIVE_INFINITY,
      smallest: 8,
      divide: (operations) => ['a', 'b'].map((one) => operations.filter(({ query }) => query.startsWith(one))),
    })
    for (const query of ['a1', 'b1', 'a2']) void requests.run(query, new AbortableCall())
    await turn()
    expect(sent.map(({ queries }) => queries)).toEqual([['a1', 'a2'], ['b1']])
  })

  it('never share a request where they have the same subject, and keep their order', async () => {
    const { requests, sent } = begin({ most: 1, subjectOf: (query) => query[0] })
    for (const query of ['a1', 'a2', 'b1', 'a3']) void requests.run(query, new AbortableCall())
    await turn()
    for (const place of [0, 1, 2]) await sent[place]?.answer()
    expect(sent.map(({ queries }) => queries)).toEqual([['a1', 'b1'], ['a2'], ['a3']])
  })

  it('wait for the longest of their time limits', async () => {
    const { requests, sent } = begin({ smallest: 8 })
    for (const timeout of [10, 30, 20]) void requests.run('', new AbortableCall(timeout))
    await turn()
    expect(sent[0]?.call.timeout).toBe(30)
  })
})

describe('an operation that is aborted', () => {
  it('before it is sent, is never sent', async () => {
    const { run, sent } = begin({ smallest: 8 })
    const call = new AbortableCall()
    const [given] = run(1, call, 'given up ')
    void run(1, new AbortableCall(), 'other ')
    call.abort(new Error('time is up'))
    expect(await reasonOf(given as Promise<string>)).toBe('time is up')
    await turn()
    expect(sent.map(({ queries }) => queries)).toEqual([['other 0']])
    expect(call.listeners).toBe(0)
  })

  it('before it begins, is never sent', async () => {
    const { run, sent, requests } = begin()
    const call = new AbortableCall()
    call.abort(new Error('time is up'))
    expect(await reasonOf(run(1, call)[0] as Promise<string>)).toBe('time is up')
    expect(await reasonOf(requests.runAtOnce('', call))).toBe('time is up')
    await turn()
    expect(sent).toEqual([])
  })

  it('ends its request only with the last one that waits for it', async () => {
    const { requests, run, sent, sizes } = begin({ most: 1, smallest: 8 })
    const calls = [new AbortableCall(), new AbortableCall()]
    const given = calls.map((call) => reasonOf(requests.run('', call)))
    await turn()
    void run(1)
    calls[0]?.abort(new Error('first'))
    expect(sent[0]?.call.aborted).toBe(false)
    calls[1]?.abort(new Error('second'))
    expect(await Promise.all(given)).toEqual(['first', 'second'])
    expect(sent[0]?.call.aborted).toBe(true)
    await turn()
    expect(sizes()).toEqual([2, 1])
  })

  it('is not repeated', async () => {
    const { requests, run, sent } = begin({ smallest: 8 })
    const call = new AbortableCall()
    const given = reasonOf(requests.run('given up', call))
    const others = run(1)
    await turn()
    call.abort(new Error('time is up'))
    expect(await given).toBe('time is up')
    await sent[0]?.refuse('refused')
    expect(sent.slice(1).map(({ queries }) => queries)).toEqual([['0']])
    await sent[1]?.answer()
    expect(await others[0]).toBe('0')
  })
})

describe('operations that fail', () => {
  it('together, are repeated alone, so that one does not fail the others', async () => {
    const { run, sent, sizes } = begin({ smallest: 8 })
    const [good, bad] = run(2).map(reasonOf)
    await turn()
    await sent[0]?.refuse('refused')
    expect(sizes()).toEqual([2, 1, 1])
    await sent[1]?.answer()
    await sent[2]?.refuse('refused')
    expect(await Promise.all([good, bad])).toEqual(['resolved', 'refused'])
  })

  it('are all unknown where the error is not that of one', async () => {
    const { run, sent } = begin({ smallest: 8 })
    const outcomes = run(2).map(reasonOf)
    await turn()
    await sent[0]?.refuse('no answer')
    expect(await Promise.all(outcomes)).toEqual(['no answer', 'no answer'])
    expect(sent).toHaveLength(1)
  })

  it('are rejected where the request ends without their answer', async () => {
    const { run, sent } = begin()
    const outcome = run(1).map(reasonOf)[0]
    await turn()
    await sent[0]?.end()
    expect(await outcome).toContain('not settled')
  })
})

describe('an operation of which nothing was done', () => {
  it('goes again with those that wait', async () => {
    const { run, sent } = begin({ most: 1 })
    void run(1, new AbortableCall(), 'again ')
    await turn()
    void run(1, new AbortableCall(), 'later ')
    sent[0]?.operations[0]?.sendAgain()
    await sent[0]?.end()
    expect(sent[1]?.queries).toEqual(['later 0', 'again 0'])
  })

  it('is repeated alone after a pause that its repeats decide', async () => {
    const pauses: number[] = []
    const pause = (repeats: number): number => {
      pauses.push(repeats)
      return 100 * (repeats + 1)
    }
    const { clock, run, sent } = begin({ smallest: 8, pause })
    const [busy] = run(1)
    await turn()
    for (const wait of [100, 200]) {
      const count = sent.length
      sent.at(-1)?.operations[0]?.repeat()
      await sent.at(-1)?.end()
      await clock.advance(wait - 1)
      await turn()
      expect(sent).toHaveLength(count)
      await clock.advance(1)
      await turn()
      expect(sent).toHaveLength(count + 1)
    }
    expect(sent.at(-1)?.operations[0]?.repeats).toBe(2)
    await sent.at(-1)?.answer()
    expect(await busy).toBe('0')
    expect(pauses).toEqual([0, 1])
  })
})

describe('a request', () => {
  it('of its own passes those that wait, and does not count', async () => {
    const { requests, run, sizes, sent } = begin({ most: 1, largest: 2 })
    void run(4)
    await turn()
    const urgent = requests.runAtOnce('urgent', new AbortableCall())
    expect(sent.at(-1)?.queries).toEqual(['urgent'])
    await sent.at(-1)?.answer()
    expect(await urgent).toBe('urgent')
    expect(sizes()).toEqual([2, 1])
    await sent[0]?.answer()
    expect(sizes()).toEqual([2, 1, 2])
  })

  it('is not shared by an operation that goes alone, nor passed by those after it', async () => {
    const { requests, run, sent } = begin({ most: 1 })
    void run(2)
    void requests.run('alone', new AbortableCall(), true)
    void run(1)
    await turn()
    for (const place of [0, 1, 2]) await sent[place]?.answer()
    expect(sent.map(({ queries }) => queries)).toEqual([['0', '1'], ['alone'], ['0']])
  })

  it('that stalls does not hold up the others for ever', async () => {
    const { clock, run, sizes } = begin({ most: 1, largest: 1, stalled: 1_000 })
    void run(2)
    await turn()
    await clock.advance(999)
    await turn()
    expect(sizes()).toEqual([1])
    await clock.advance(1)
    await turn()
    expect(sizes()).toEqual([1, 1])
  })

  it('is aborted by the close, which rejects all operations', async () => {
    const { requests, run, sent } = begin({ most: 1, largest: 1, pause: () => 100 })
    const outcomes = run(3).map(reasonOf)
    await turn()
    sent[0]?.operations[0]?.repeat()
    await sent[0]?.end()
    requests.close(new Error('closed'))
    expect(await Promise.all(outcomes)).toEqual(['closed', 'closed', 'closed'])
    expect(sent[1]?.call.aborted).toBe(true)
    await turn()
    expect(sent).toHaveLength(2)
  })

  it('is aborted by the close, each of those under way', async () => {
    const { requests, run, sent } = begin({ most: 3, largest: 1 })
    const outcomes = run(3).map(reasonOf)
    await turn()
    requests.close(new Error('closed'))
    expect(sent.map(({ call }) => call.aborted)).toEqual([true, true, true])
    expect(await Promise.all(outcomes)).toEqual(['closed', 'closed', 'closed'])
  })
})
