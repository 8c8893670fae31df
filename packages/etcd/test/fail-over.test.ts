import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { failOver } from '../src/client/fail-over.js'

const PATIENCE = 300

/** What a member does with the requests of the rounds; the last one stays. */
type Conduct = readonly ('answers' | 'hangs' | 'is dead' | 'rejects')[]

/** A request to members of this conduct: who was asked when. */
function begin(...conducts: readonly Conduct[]) {
  const clock = new VirtualClock()
  const call = new AbortableCall()
  const asked: string[] = []
  const open = new Set<StoreCall>()
  const rounds = conducts.map(() => 0)
  const attempt = (place: number, own: StoreCall): Promise<string> => {
    asked.push(`${place} at ${clock.now()}`)
    const conduct = conducts[place] ?? []
    const now = conduct[Math.min(rounds[place] ?? 0, conduct.length - 1)]
    rounds[place] = (rounds[place] ?? 0) + 1
    if (now === 'answers') return Promise.resolve(`answer of ${place}`)
    if (now === 'is dead') return Promise.reject(new Error(`${place} is dead`))
    if (now === 'rejects') return Promise.reject(Object.assign(new Error('denied'), { code: 7, details: 'denied' }))
    open.add(own)
    return new Promise((_, reject) => {
      own.onAbort(() => {
        open.delete(own)
        reject(own.signal.reason)
      })
    })
  }
  const places = conducts.map((_, place) => place)
  const outcome = failOver(places, attempt, clock, PATIENCE, call).catch((error: Error) => error.message)
  return { clock, call, asked, open, outcome }
}

describe('a request to several members', () => {
  it('goes to the next one at once if a member is dead, also while a slow one is still asked', async () => {
    const { clock, asked, open, outcome } = begin(['hangs'], ['is dead'], ['answers'])
    await clock.advance(PATIENCE)
    expect(await outcome).toBe('answer of 2')
    expect(asked).toEqual(['0 at 0', '1 at 300', '2 at 300'])
    expect(open.size).toBe(0)
  })

  it('is sent again, with more patience, if none has answered: the leader it was passed on to may hang', async () => {
    const { clock, asked, open, outcome } = begin(['hangs', 'answers'], ['hangs'], ['hangs'])
    await clock.advance(1_499)
    expect(asked).toEqual(['0 at 0', '1 at 300', '2 at 600'])
    await clock.advance(1)
    expect(await outcome).toBe('answer of 0')
    expect(open.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('is rejected with the last error if all are dead', async () => {
    const { asked, outcome } = begin(['is dead'], ['is dead'])
    expect(await outcome).toBe('1 is dead')
    expect(asked).toEqual(['0 at 0', '1 at 0'])
  })

  it('ends with a definitive error: no other member is asked', async () => {
    const { clock, asked, open, outcome } = begin(['hangs'], ['rejects'], ['answers'])
    await clock.advance(PATIENCE)
    expect(await outcome).toBe('denied')
    await clock.advance(60_000)
    expect(asked).toEqual(['0 at 0', '1 at 300'])
    expect(open.size).toBe(0)
  })

  it('ends when it is given up: no other member is asked', async () => {
    const { clock, call, asked, open, outcome } = begin(['hangs'], ['hangs'], ['answers'])
    await clock.advance(100)
    call.abort(new Error('given up'))
    expect(await outcome).toBe('given up')
    await clock.advance(60_000)
    expect(asked).toEqual(['0 at 0'])
    expect(open.size).toBe(0)
    expect(clock.pending).toBe(0)
  })
})
