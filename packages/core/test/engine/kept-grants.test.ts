import { describe, expect, it, vi } from 'vitest'
import { heldIn } from '../../src/engine/engine-state.js'
import type { GrantKeeper, GrantToKeep, KeptGrant } from '../../src/engine/grant-keeper.js'
import { LIMIT, VALIDITY } from '../support/held-lease.js'
import { setUpEngine } from '../support/scripted-engine.js'

/** An engine whose grant is kept by the test. */
async function setUpKept() {
  const asked: GrantToKeep[] = []
  const end = vi.fn()
  const news = {
    ownAt: Number.NEGATIVE_INFINITY,
    confirmedAt: Number.NEGATIVE_INFINITY,
    isOver: false,
    isUnresponsive: false,
    refusal: undefined as KeptGrant['refusal'],
  }
  const keeper: GrantKeeper = {
    start: () => undefined,
    engage() {},
    keep: (given) => {
      asked.push(given)
      return Object.assign(news, { grant: given.grant, end })
    },
  }
  const fixture = setUpEngine({}, { keeper })
  await fixture.hold()
  const validUntil = (): number | undefined => heldIn(fixture.engine.state)?.validUntil
  const types = (): string[] => fixture.told.map(({ type }) => type)
  return { ...fixture, asked, end, news, validUntil, types }
}

/** The time passes while the event loop is blocked; then the timers run. */
async function block({ clock }: Awaited<ReturnType<typeof setUpKept>>, milliseconds: number): Promise<void> {
  clock.block(milliseconds)
  await clock.settle()
}

describe('the engine of a lease whose grants are kept by another thread', () => {
  it('gives it each grant, with the instant at which the confirmed request was sent', async () => {
    const { asked } = await setUpKept()
    expect(asked).toMatchObject([{ confirmedAt: 0, validity: VALIDITY, timeout: LIMIT }])
  })

  it('is valid, at any instant, for as long as the keeper has renewed it', async () => {
    const fixture = await setUpKept()
    expect(fixture.validUntil()).toBe(VALIDITY)
    fixture.news.confirmedAt = 5_000
    expect(fixture.validUntil()).toBe(5_000 + VALIDITY)
    fixture.news.isOver = true
    expect(fixture.validUntil()).toBe(Number.NEGATIVE_INFINITY)
  })

  it('is held after a block in which the keeper has renewed it, without jeopardy', async () => {
    const fixture = await setUpKept()
    Object.assign(fixture.news, { ownAt: 29_000, confirmedAt: 29_000 })
    await block(fixture, 30_000)
    expect(fixture.types()).toEqual(['granted', 'renewed'])
    expect(fixture.validUntil()).toBe(29_000 + VALIDITY)
  })

  it('is lost for the reason of a refusal that arrives after the end of the validity', async () => {
    const fixture = await setUpKept()
    fixture.news.isOver = true
    // The timers run before the messages are read that have come meanwhile.
    fixture.clock.block(VALIDITY)
    fixture.engine.onTimer()
    expect(fixture.types()).toEqual(['granted'])
    fixture.news.refusal = { renewed: false, reason: 'broken' }
    fixture.engine.onKeptRefused()
    expect(fixture.told.at(-1)).toMatchObject({ type: 'lost', lost: { reason: 'broken' } })
    expect(fixture.end).toHaveBeenCalledOnce()
  })

  it('does not wait for the reason for ever', async () => {
    const fixture = await setUpKept()
    fixture.news.isOver = true
    await block(fixture, VALIDITY)
    await fixture.clock.advance(LIMIT)
    expect(fixture.told.at(-1)).toMatchObject({ type: 'lost', lost: { reason: 'expired' } })
  })

  it('ends the keeping before it tells anybody of a loss or a release', async () => {
    const { engine, told, end } = await setUpKept()
    let wasEnded = false
    vi.spyOn(told, 'push').mockImplementation(() => {
      wasEnded = end.mock.calls.length === 1
      return 1
    })
    engine.dispatch({ type: 'end', reason: 'closed' })
    expect(wasEnded).toBe(true)
  })

  it('is lost with the cause if the keeper has ended', async () => {
    const { engine, told } = await setUpKept()
    engine.onKeeperEnded(new Error('no memory'))
    const cause = expect.objectContaining({ code: 'unavailable', message: expect.stringContaining('no memory') })
    expect(told).toContainEqual(expect.objectContaining({ type: 'lost', lost: { reason: 'closed', cause } }))
  })
})
