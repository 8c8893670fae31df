import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { ApiAnswer } from '../src/api/api-answer.js'
import type { ApiClient } from '../src/api/api-client.js'
import type { ApiRequest } from '../src/api/api-request.js'
import type { KubernetesObject } from '../src/kubernetes-object.js'
import { watchObject } from '../src/object-watch.js'

/** How one request to watch ends: with an answer, with the lines of a stream that then ends or breaks, or not at all. */
type Opening =
  | { readonly status: number }
  | { readonly lines: readonly object[]; readonly breaks?: boolean; readonly lasts?: number }
  | 'unreachable'

const object = (resourceVersion: string, name = 'job') => ({ metadata: { name, resourceVersion } })
const added = (version: string) => ({ type: 'ADDED', object: object(version) })
const error = (code: number) => ({ type: 'ERROR', object: { kind: 'Status', code } })
const failureOf = ({ status }: ApiAnswer) =>
  Object.assign(new Error(`answered ${status}`), { code: status === 403 ? 'unauthorised' : 'unavailable' })

/** A watch over streams that stay open: the test sends the lines. Returns the requested length of each, in seconds. */
function watchOpenStreams(silence?: number) {
  const clock = new VirtualClock()
  const ended = new AbortableCall()
  const seconds: number[] = []
  let show = (_line: object): void => {}
  const client = {
    open: async ({ query }: ApiRequest, call: StoreCall) => {
      seconds.push(Number(query?.timeoutSeconds))
      return openStream(call, (next) => {
        show = next
      })
    },
    pause: async () => {},
  } as unknown as ApiClient
  const watched = { client, clock, random: Math.random, path: '/leases', name: 'job', from: '5', failureOf }
  const watching = watchObject(silence === undefined ? watched : { ...watched, silence }, ended)
  const over = (async () => {
    for await (const _ of watching);
  })()
  return { clock, ended, over, seconds, show: (line: object) => show(line) }
}

async function* openStream(call: StoreCall, onOpen: (show: (line: object) => void) => void) {
  const lines: object[] = []
  let wake = (): void => {}
  call.onAbort(() => wake())
  onOpen((line) => {
    lines.push(line)
    wake()
  })
  while (!call.aborted) {
    const line = lines.shift()
    if (line !== undefined) yield JSON.stringify(line)
    else {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}

/** The actions of a watch over these openings, in order: `open VERSION`, `pause MS`, and the yielded values. */
async function watched(openings: readonly Opening[], from?: string): Promise<(string | number)[]> {
  const clock = new VirtualClock()
  const ended = new AbortableCall()
  const left = [...openings]
  const done: (string | number)[] = []
  const client = {
    open: async ({ query }: ApiRequest) => {
      done.push(`open ${query?.resourceVersion ?? 'again'}`)
      const opening = left.shift()
      if (opening === undefined) ended.abort()
      if (opening === undefined || opening === 'unreachable') throw new Error('unreachable')
      return 'lines' in opening ? linesOf(opening, clock) : { ...opening, headers: {}, body: undefined, text: '' }
    },
    pause: async (duration: number) => void done.push(duration),
  } as unknown as ApiClient
  const watching = watchObject(
    { client, clock, random: Math.random, path: '/leases', name: 'job', from, failureOf },
    ended,
  )
  for await (const shown of watching) done.push(shownAs(shown))
  expect(clock.pending).toBe(0)
  return done
}

async function* linesOf({ lines, breaks, lasts = 60_000 }: Extract<Opening, { lines: unknown }>, clock: VirtualClock) {
  for (const line of lines) yield JSON.stringify(line)
  clock.block(lasts)
  if (breaks === true) throw new Error('reset')
}

function shownAs(shown: KubernetesObject | undefined): string {
  return shown === undefined ? 'missed' : `object ${shown.metadata.resourceVersion}`
}

/** A pause after so many failures: half of it is random. */
const pause = (failures: number) =>
  expect.toSatisfy((duration: number) => {
    const longest = Math.min(50 * 2 ** failures, 5_000)
    return duration >= longest / 2 && duration <= longest
  })

const broken = { lines: [], breaks: true }

describe('a watch of an object', () => {
  it('shows each change, and is resumed after a short pause from where it ended', async () => {
    const bookmark = { type: 'BOOKMARK', object: object('9') }
    const other = { type: 'ADDED', object: object('8', 'other') }
    expect(await watched([{ lines: [added('6'), { ...added('7'), type: 'DELETED' }, other, bookmark] }], '5')).toEqual([
      'open 5',
      'object 6',
      'missed',
      pause(0),
      'open 9',
    ])
  })

  it('pauses longer after each failure; an opened stream is a success, though it shows nothing', async () => {
    const openings: Opening[] = ['unreachable', { status: 503 }, 'unreachable', broken, 'unreachable', { lines: [] }]
    expect((await watched(openings, '5')).filter((step) => step !== 'open 5')).toEqual([1, 2, 3, 1, 2, 0].map(pause))
  })

  it.each([
    ['an event', { lines: [error(410)] }],
    ['the answer', { status: 410 }],
  ])(
    'whose version is forgotten, by %s, starts again at once, and reports that changes may be missed',
    async (_, gone) => {
      expect(await watched(['unreachable', 'unreachable', gone, { lines: [added('9')] }], '5')).toEqual([
        'open 5',
        pause(1),
        'open 5',
        pause(2),
        'open 5',
        'missed',
        'open again',
        // The object may have been deleted since: then nothing shows it.
        'missed',
        'object 9',
        pause(0),
        'open 9',
      ])
    },
  )

  it('pauses where an answer forgets a version that was not given', async () => {
    expect(await watched([{ status: 410 }, { lines: [error(410)] }])).toEqual([
      'open again',
      pause(1),
      'open again',
      'missed',
      'open again',
    ])
  })

  it('that ends with any other error starts again after a pause, and changes may be missed', async () => {
    expect(await watched([{ lines: [added('6'), error(500)] }, { lines: [] }], '5')).toEqual([
      'open 5',
      'object 6',
      'missed',
      pause(1),
      'open again',
      'missed',
      pause(0),
      'open again',
    ])
  })

  it('whose streams end as soon as they are opened pauses longer from the sixth on, until one lasts', async () => {
    const brief = { lines: [], lasts: 999 }
    const openings = [...Array(8).fill(brief), { lines: [], lasts: 1_000 }, brief]
    expect((await watched(openings, '5')).filter((step) => step !== 'open 5')).toEqual(
      [0, 0, 0, 0, 0, 1, 2, 3, 0, 0].map(pause),
    )
  })

  it('pauses where a server forgets one version after the other', async () => {
    const openings = Array(7).fill({ lines: [added('6'), error(410)], lasts: 0 })
    const steps = await watched(openings, '5')
    expect(steps.filter((step) => typeof step === 'number')).toEqual([1, 2].map(pause))
  })

  it('pauses for 5 s at the most', async () => {
    const steps = await watched(Array(12).fill('unreachable'), '5')
    expect(Math.max(...steps.filter((step) => typeof step === 'number'))).toBeLessThanOrEqual(5_000)
    expect(steps.at(-2)).toBeGreaterThanOrEqual(2_500)
  })

  it('whose stream is dead begins another 10 s after the server should have ended it', async () => {
    const { clock, ended, over, seconds } = watchOpenStreams()
    await clock.settle()
    const [asked = 0] = seconds
    expect(asked).toBeGreaterThanOrEqual(30)
    expect(asked).toBeLessThanOrEqual(60)
    await clock.advance(asked * 1_000 + 9_999)
    expect(seconds.length).toBe(1)
    await clock.advance(1)
    expect(seconds.length).toBe(2)
    ended.abort()
    await over
    expect(clock.pending).toBe(0)
  })

  it('of an object that certainly changes begins another as soon as it was silent for so long, and not before', async () => {
    const { clock, ended, over, seconds, show } = watchOpenStreams(6_000)
    await clock.settle()
    expect(seconds[0]).toBeGreaterThanOrEqual(300)
    for (let version = 6; version < 60; version += 1) {
      await clock.advance(5_999)
      show(added(String(version)))
      await clock.settle()
    }
    expect(seconds.length).toBe(1)
    await clock.advance(6_000)
    expect(seconds.length).toBe(2)
    ended.abort()
    await over
    expect(clock.pending).toBe(0)
  })

  it('is over where the server refuses it, and where its call is aborted', async () => {
    await expect(watched([broken, { status: 403 }], '5')).rejects.toThrow('answered 403')
    expect(await watched([], '5')).toEqual(['open 5'])
  })
})
