import { describe, expect, it } from 'vitest'
import { Showing } from '../scenes/scene.js'
import { scenes } from '../scenes/scenes.js'
import type { Entry } from '../world/journal.js'
import { BREAK_PERIOD, TIMES } from '../world/settings.js'
import type { Tenure } from '../world/tenures.js'

const { heartbeatTimeout, heartbeatInterval, operationTimeout } = TIMES
const [A, B, C] = [0, 1, 2]

/** A scene that takes longer would bore. */
const LONGEST = 15_000

/** A notice, a request and its answer, each at its slowest. */
const THREE_MESSAGES = 3 * 220

/** Plays a scene to its end. */
async function played(id: string): Promise<Showing> {
  const scene = scenes.find((each) => each.id === id)
  if (scene === undefined) throw new Error(`there is no scene '${id}'`)
  const showing = await Showing.begin(scene)
  const end = showing.world.now + LONGEST
  while (!showing.isOver && showing.failure === undefined && showing.world.now < end) await showing.world.advance(100)
  return showing
}

const validity = ({ world }: Showing): readonly Tenure[] => [A, B, C].flatMap((node) => world.tenuresOf(node).all)

/** The first tenure of a node. */
function tenureOf({ world }: Showing, node: number): Tenure {
  const tenure = world.tenuresOf(node).all[0]
  if (tenure === undefined) throw new Error(`node ${node} never held the lease`)
  return tenure
}

/** When something was noted first. */
function timeOf({ world }: Showing, text: RegExp): number {
  const entry = world.journal.entries.find((each) => text.test(each.text))
  if (entry === undefined) throw new Error(`nothing was noted like ${text}`)
  return entry.at
}

const noted = ({ world }: Showing, text: RegExp): readonly Entry[] =>
  world.journal.entries.filter((entry) => text.test(entry.text))

describe('in every scene', () => {
  it('there are ten, each with a name in the address and one sentence', () => {
    expect(scenes).toHaveLength(10)
    expect(new Set(scenes.map(({ id }) => id)).size).toBe(10)
    for (const { id, sentence } of scenes) {
      expect(id).toMatch(/^[a-z-]+$/)
      expect(sentence, id).toMatch(/^[A-Z][^.]+\.?[^.]*\.$/)
    }
  })

  for (const { id } of scenes) {
    it(`${id}: ends soon, and breaks no rule`, async () => {
      const showing = await played(id)
      expect(showing.failure).toBeUndefined()
      expect(showing.isOver).toBe(true)
      expect(showing.caption).not.toBe('')
      expect(showing.world.violation).toBeUndefined()
    })

    it(`${id}: two nodes never may act at the same time, and each only while the store keeps the name for it`, async () => {
      const showing = await played(id)
      const inOrder = validity(showing).toSorted((one, other) => one.from - other.from)
      for (const [place, tenure] of inOrder.entries()) {
        const before = inOrder[place - 1]
        if (before === undefined) continue
        expect(tenure.from).toBeGreaterThan(before.to)
        expect(tenure.fencingToken).toBeGreaterThan(before.fencingToken)
      }
      for (const { fencingToken, from, to } of inOrder) {
        const lock = showing.world.locks.all.find((each) => each.fencingToken === fencingToken)
        expect(lock?.from).toBeLessThan(from)
        // A release reaches the store after the holder has stopped, and a break ends the lock with its period.
        expect(lock?.to).toBeGreaterThanOrEqual(to)
      }
    })

    it(`${id}: is the same each time`, async () => {
      const [one, other] = [await played(id), await played(id)]
      expect(other.world.journal.entries).toEqual(one.world.journal.entries)
    })
  }
})

it('a scene ends when a visitor does something by hand', async () => {
  const showing = await Showing.begin(scenes[0])
  showing.takeOver()
  showing.world.cut(B)
  await showing.world.advance(LONGEST)
  expect(showing.isOver).toBe(true)
  expect(showing.caption).toMatch(/by hand/)
  // The script would have killed it.
  expect(showing.world.holder).toBe(A)
})

describe('what the sentences say', () => {
  it('kill-the-holder: the first waiter takes over when the record has run out, with a larger token', async () => {
    const showing = await played('kill-the-holder')
    const killed = timeOf(showing, /^kill A/)
    const [before, after] = [tenureOf(showing, A), tenureOf(showing, B)]
    expect(before.to).toBe(killed)
    expect(after.from - killed).toBeGreaterThan(heartbeatTimeout - heartbeatInterval - operationTimeout)
    expect(after.from - killed).toBeLessThan(heartbeatTimeout + THREE_MESSAGES)
    expect(after.fencingToken).toBe(before.fencingToken + 1n)
    expect(noted(showing, /lost the lease/)).toEqual([])
  })

  it('pause-the-holder: its validity ends while none of its code runs, and its late write is refused', async () => {
    const showing = await played('pause-the-holder')
    const [paused, resumed] = [timeOf(showing, /^pause A/), timeOf(showing, /^let A go on/)]
    const { to } = tenureOf(showing, A)
    expect(to).toBeGreaterThan(paused)
    expect(to).toBeLessThan(tenureOf(showing, B).from)
    expect(timeOf(showing, /^lost the lease/)).toBe(resumed)
    const refused = showing.world.writes.filter(({ isAccepted }) => !isAccepted)
    expect(refused).toMatchObject([{ node: A, fencingToken: 1n }])
    expect(refused[0]?.at).toBeGreaterThan(resumed)
    expect(showing.world.written).toBe('by B')
  })

  it('cut-the-link: the holder stops by itself before the store frees the name', async () => {
    const showing = await played('cut-the-link')
    const stopped = tenureOf(showing, A).to
    const lock = showing.world.locks.all[0]
    expect(stopped).toBeLessThan(lock?.to ?? 0)
    expect(tenureOf(showing, B).from).toBeGreaterThan(lock?.to ?? Number.POSITIVE_INFINITY)
    expect(showing.world.waiters.at(-1)).toBe(A)
  })

  it('late-answers: heartbeats time out, and the holder keeps its lease', async () => {
    const showing = await played('late-answers')
    expect(noted(showing, /in jeopardy/)).toHaveLength(1)
    expect(noted(showing, /out of jeopardy/)).toHaveLength(1)
    expect(validity(showing)).toMatchObject([{ node: A, isOpen: true }])
  })

  it('release: the next waiter has the lease at once', async () => {
    const showing = await played('release')
    const freed = showing.world.locks.all[0]?.to ?? 0
    expect(tenureOf(showing, B).from - freed).toBeLessThan(THREE_MESSAGES)
    expect(showing.world.waiters).toEqual([C, A])
  })

  it('break: the holder learns it by its next heartbeat, before the name is free', async () => {
    const showing = await played('break')
    const broken = timeOf(showing, /^break the lease/)
    const { to } = tenureOf(showing, A)
    expect(to - broken).toBeLessThan(heartbeatInterval + THREE_MESSAGES)
    expect(noted(showing, /lost the lease: an operator broke it/)).toHaveLength(1)
    expect(tenureOf(showing, B).from - broken).toBeGreaterThan(BREAK_PERIOD)
    expect(tenureOf(showing, B).from - broken).toBeLessThan(BREAK_PERIOD + THREE_MESSAGES)
  })

  it('wrong-clock: nothing happens but the release that was asked for', async () => {
    const showing = await played('wrong-clock')
    const { world } = showing
    expect(world.clockOf(A).wall() - world.clockOf(B).wall()).toBe(2 * 3_600_000)
    expect(noted(showing, /jeopardy|lost the lease|refuse/)).toEqual([])
    expect(tenureOf(showing, B).from - tenureOf(showing, A).to).toBeLessThan(2 * THREE_MESSAGES)
  })

  it('ask-at-once: one is granted, the other queues', async () => {
    const showing = await played('ask-at-once')
    expect(noted(showing, /^starts/).map(({ at }) => at)).toEqual([500, 500, 2_500])
    expect(noted(showing, /^grants/)).toHaveLength(1)
    const holder = showing.world.holder ?? C
    expect([A, B]).toContain(holder)
    expect(showing.world.waiters).toEqual([A + B - holder, C])
  })

  it('late-write: it was sent under a valid lease, and is refused when it arrives', async () => {
    const showing = await played('late-write')
    const { writes, network, written } = showing.world
    const refused = writes.filter(({ isAccepted }) => !isAccepted)
    expect(refused.length).toBeGreaterThan(0)
    for (const write of refused) {
      expect(write).toMatchObject({ node: A, fencingToken: 1n })
      // 9 s under way.
      expect(write.at - 9_000).toBeLessThan(tenureOf(showing, A).to)
    }
    expect(network.of(A).delay).toBe(0)
    expect(written).toBe('by B')
  })

  it('restart-the-store: nobody loses anything', async () => {
    const showing = await played('restart-the-store')
    expect(noted(showing, /lost the lease/)).toEqual([])
    expect(noted(showing, /^grants/)).toHaveLength(1)
    expect(validity(showing)).toMatchObject([{ node: A, isOpen: true }])
    expect(showing.world.waiters).toEqual([B, C])
  })
})
