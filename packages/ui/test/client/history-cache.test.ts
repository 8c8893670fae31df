import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { HistoryCache } from '../../client/timeline/history-cache.js'
import type { HistoryAnswer, HistoryRequest } from '../../src/protocol.js'

function cacheOf(answer: (request: HistoryRequest) => Promise<HistoryAnswer>) {
  const clock = new VirtualClock()
  const asked: (readonly string[])[] = []
  let isLive = true
  const cache = new HistoryCache({
    clock: { now: () => clock.now(), wall: () => clock.wall(), schedule: (delay, task) => clock.schedule(delay, task) },
    ask: (request) => {
      asked.push(request.names)
      return answer(request)
    },
    range: () => ({ from: 0, to: 100 }),
    onChange: () => {},
    isLive: () => isLive,
  })
  const setLive = (next: boolean) => {
    isLive = next
  }
  return { clock, asked, cache, setLive }
}

const span = { from: 1, owner: 'ada', token: '1' }
const answerAll = async ({ names }: HistoryRequest): Promise<HistoryAnswer> => ({
  observedSince: 5,
  blind: [],
  isCut: names.filter((name) => name === 'busy'),
  spans: Object.fromEntries(names.filter((name) => name !== 'unknown').map((name) => [name, [span]])),
})

describe('HistoryCache', () => {
  it('asks once for what is seen', async () => {
    const { clock, asked, cache } = cacheOf(answerAll)
    cache.want(['a', 'busy', 'unknown', '__proto__'])
    await clock.advance(5_000)
    cache.want(['a', 'busy'])
    await clock.advance(5_000)
    expect(asked).toEqual([['a', 'busy', 'unknown', '__proto__']])
    expect(cache.spansOf('a')).toEqual([span])
    expect(cache.spansOf('unknown')).toEqual([])
    expect(cache.isCut('busy')).toBe(true)
    expect(cache.observedSince).toBe(5)
  })

  it('asks again for what has changed and is seen: once a second at most', async () => {
    const { clock, asked, cache } = cacheOf(answerAll)
    cache.want(['a', 'b'])
    await clock.advance(2_000)
    for (let change = 0; change < 9; change += 1) {
      cache.changed(['b', 'hidden'])
      await clock.advance(300)
    }
    expect(asked.slice(1)).toEqual([['b'], ['b'], ['b']])
  })

  it('asks again for what changed while the answer was on its way', async () => {
    let answer = (_: HistoryAnswer) => {}
    const { clock, asked, cache } = cacheOf(() => new Promise((resolve) => (answer = resolve)))
    cache.want(['a'])
    cache.changed(['a'])
    answer(await answerAll({ names: ['a'], from: 0, to: 1 }))
    await clock.advance(2_000)
    expect(asked).toEqual([['a'], ['a']])
  })

  it('keeps what it has when the server cannot answer, and asks again', async () => {
    let isDown = false
    const { clock, asked, cache } = cacheOf((request) =>
      isDown ? Promise.reject(new Error('The server cannot be reached.')) : answerAll(request),
    )
    cache.want(['a'])
    await clock.advance(2_000)
    isDown = true
    cache.changed('all')
    await clock.advance(1_500)
    expect(cache.error).toBe('The server cannot be reached.')
    expect(cache.spansOf('a')).toEqual([span])
    isDown = false
    await clock.advance(5_000)
    expect(cache.error).toBeUndefined()
    expect(asked.length).toBeLessThan(8)
  })

  it('asks nothing while the page is stale, and for all of it afterwards', async () => {
    const { clock, asked, cache, setLive } = cacheOf(answerAll)
    setLive(false)
    cache.want(['a'])
    await clock.advance(5_000)
    expect(asked).toEqual([])
    setLive(true)
    cache.changed('all')
    await clock.advance(5_000)
    expect(asked).toEqual([['a']])
  })

  it('forgets what is not seen once there is much of it', async () => {
    const { clock, cache } = cacheOf(answerAll)
    for (let part = 0; part < 6; part += 1) {
      cache.want(Array.from({ length: 400 }, (_, index) => `lease ${part * 400 + index}`))
      await clock.advance(2_000)
    }
    cache.want(['lease 2399'])
    expect(cache.spansOf('lease 2399')).toEqual([span])
    expect(cache.spansOf('lease 0')).toBeUndefined()
  })

  it('asks for at most 500 names at a time', async () => {
    const { clock, asked, cache } = cacheOf(answerAll)
    cache.want(Array.from({ length: 700 }, (_, index) => `lease ${index}`))
    await clock.advance(5_000)
    expect(asked.map(({ length }) => length)).toEqual([500, 200])
  })
})
