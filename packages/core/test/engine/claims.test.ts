import { describe, expect, it, vi } from 'vitest'
import { Claim, Claims } from '../../src/engine/claims.js'

const ONCE = Number.NEGATIVE_INFINITY

function setUp(...ends: number[]): { claims: Claims; each: Claim[]; unlistened: number[] } {
  const claims = new Claims()
  const unlistened: number[] = []
  const each = ends.map((waitUntil, place) => {
    const claim = new Claim(waitUntil, { metadata: { place: `${place}` } })
    claim.unlisten = () => unlistened.push(place)
    claims.add(claim)
    return claim
  })
  return { claims, each, unlistened }
}

describe('the callers that share an attempt', () => {
  it('are empty at first', () => {
    const { claims } = setUp()
    expect(claims.isEmpty).toBe(true)
    expect(claims.waits).toBe(false)
    expect(claims.deadline).toBe(Number.POSITIVE_INFINITY)
    expect(claims.wishes).toEqual({})
  })

  it('wait until the earliest end of a wait; callers without wait do not count', () => {
    const { claims, each } = setUp(ONCE, 500, 300, 400)
    expect(claims.isEmpty).toBe(false)
    expect(claims.waits).toBe(true)
    expect(claims.deadline).toBe(300)
    for (const claim of each.slice(1)) claims.remove(claim)
    expect(claims.waits).toBe(false)
    expect(claims.isEmpty).toBe(false)
    expect(claims.deadline).toBe(Number.POSITIVE_INFINITY)
  })

  it('use the wishes of the first caller', () => {
    const { claims, each } = setUp(ONCE, ONCE)
    expect(claims.wishes).toEqual({ metadata: { place: '0' } })
    claims.remove(each[0] as Claim)
    expect(claims.wishes).toEqual({ metadata: { place: '1' } })
  })

  it('lose the signal listener of a removed caller only', () => {
    const { claims, each, unlistened } = setUp(100, 200, 300)
    claims.remove(each[0] as Claim)
    expect(unlistened).toEqual([0])
    expect(claims.deadline).toBe(200)
    expect(claims.takeAll()).toEqual(each.slice(1))
  })

  it('can be taken out all at once', () => {
    const { claims, each, unlistened } = setUp(100, ONCE)
    expect(claims.takeAll()).toEqual(each)
    expect(unlistened).toEqual([0, 1])
    expect(claims.isEmpty).toBe(true)
    expect(claims.deadline).toBe(Number.POSITIVE_INFINITY)
    claims.add(new Claim(700, {}))
    expect(claims.deadline).toBe(700)
  })

  it('can be taken out exactly at the end of their wait', () => {
    const { claims, each, unlistened } = setUp(100, 201, ONCE, 200)
    expect(claims.takeDue(200)).toEqual([each[0], each[2], each[3]])
    expect(unlistened).toEqual([0, 2, 3])
    expect(claims.deadline).toBe(201)
    expect(claims.takeDue(200)).toEqual([])
    expect(claims.takeDue(201)).toEqual([each[1]])
    expect(unlistened).toEqual([0, 2, 3, 1])
    expect(claims.isEmpty).toBe(true)
  })

  it('need no signal', () => {
    const claims = new Claims()
    const [first, second] = [new Claim(ONCE, {}), new Claim(500, {})]
    for (const claim of [first, second, new Claim(600, {}), new Claim(900, {})]) claims.add(claim)
    claims.remove(first)
    expect(claims.takeDue(500)).toEqual([second])
    expect(claims.takeAll().length).toBe(2)
  })
})

describe('the result of a caller', () => {
  it('settles once, before or after it is awaited', async () => {
    const [early, late] = [new Claim(ONCE, {}), new Claim(ONCE, {})]
    const asked = early.promise
    early.resolve(true)
    early.resolve(false)
    early.reject(new Error('late'))
    expect(await asked).toBe(true)
    late.resolve(false)
    late.resolve(true)
    late.reject(new Error('late'))
    expect(await late.promise).toBe(false)
  })

  it('may be an error, before or after it is awaited', async () => {
    const [early, late] = [new Claim(ONCE, {}), new Claim(ONCE, {})]
    const asked = early.promise
    early.reject('down')
    await expect(asked).rejects.toBe('down')
    late.reject('down')
    late.resolve(true)
    await expect(late.promise).rejects.toBe('down')
  })

  it('keeps the callback of the caller', () => {
    const onLost = vi.fn()
    expect(new Claim(ONCE, { onLost }).onLost).toBe(onLost)
  })
})
