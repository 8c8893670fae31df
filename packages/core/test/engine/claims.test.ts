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
  it('are none at first', () => {
    const { claims } = setUp()
    expect(claims.isEmpty).toBe(true)
    expect(claims.waits).toBe(false)
    expect(claims.deadline).toBe(Number.POSITIVE_INFINITY)
    expect(claims.metadata).toBeUndefined()
  })

  it('wait until the first of those who wait gives up; who tries once does not count', () => {
    const { claims, each } = setUp(ONCE, 500, 300, 400)
    expect(claims.isEmpty).toBe(false)
    expect(claims.waits).toBe(true)
    expect(claims.deadline).toBe(300)
    for (const claim of each.slice(1)) claims.remove(claim)
    expect(claims.waits).toBe(false)
    expect(claims.isEmpty).toBe(false)
    expect(claims.deadline).toBe(Number.POSITIVE_INFINITY)
  })

  it('have the metadata of the first of them', () => {
    const { claims, each } = setUp(ONCE, ONCE)
    expect(claims.metadata).toEqual({ place: '0' })
    claims.remove(each[0] as Claim)
    expect(claims.metadata).toEqual({ place: '1' })
  })

  it('are no longer listened to where one is removed; the others are', () => {
    const { claims, each, unlistened } = setUp(100, 200, 300)
    claims.remove(each[0] as Claim)
    expect(unlistened).toEqual([0])
    expect(claims.deadline).toBe(200)
    expect(claims.takeAll()).toEqual(each.slice(1))
  })

  it('are taken out all at once', () => {
    const { claims, each, unlistened } = setUp(100, ONCE)
    expect(claims.takeAll()).toEqual(each)
    expect(unlistened).toEqual([0, 1])
    expect(claims.isEmpty).toBe(true)
    expect(claims.deadline).toBe(Number.POSITIVE_INFINITY)
    claims.add(new Claim(700, {}))
    expect(claims.deadline).toBe(700)
  })

  it('are taken out where their time is up, at the very instant', () => {
    const { claims, each, unlistened } = setUp(100, 201, ONCE, 200)
    expect(claims.takeDue(200)).toEqual([each[0], each[2], each[3]])
    expect(unlistened).toEqual([0, 2, 3])
    expect(claims.deadline).toBe(201)
    expect(claims.takeDue(200)).toEqual([])
    expect(claims.takeDue(201)).toEqual([each[1]])
    expect(unlistened).toEqual([0, 2, 3, 1])
    expect(claims.isEmpty).toBe(true)
  })

  it('need no signal of their own', () => {
    const claims = new Claims()
    const [first, second] = [new Claim(ONCE, {}), new Claim(500, {})]
    for (const claim of [first, second, new Claim(600, {}), new Claim(900, {})]) claims.add(claim)
    claims.remove(first)
    expect(claims.takeDue(500)).toEqual([second])
    expect(claims.takeAll().length).toBe(2)
  })
})

describe('what a caller is told', () => {
  it('is told once, before or after it was asked for', async () => {
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

  it('may be a failure, before or after it was asked for', async () => {
    const [early, late] = [new Claim(ONCE, {}), new Claim(ONCE, {})]
    const asked = early.promise
    early.reject('down')
    await expect(asked).rejects.toBe('down')
    late.reject('down')
    late.resolve(true)
    await expect(late.promise).rejects.toBe('down')
  })

  it('keeps the callback of its owner', () => {
    const onLost = vi.fn()
    expect(new Claim(ONCE, { onLost }).onLost).toBe(onLost)
  })
})
