import { expect, it } from 'vitest'
import type { RegisterCall } from '../../src/checks/register/register-call.js'
import { checkCalls } from './check-calls.js'
import { randomCalls } from './random-calls.js'

it('goes through 10^5 calls, hundreds of them with an unknown outcome, and finds one wrong value', () => {
  const calls = randomCalls({ seed: 1, calls: 100_000, clients: 5, unknown: 0.01 })
  expect(calls.filter(({ outcome }) => outcome === 'unknown').length).toBeGreaterThan(500)
  expect(checkCalls(calls)).toEqual([])
  const place = calls.findIndex(
    ({ call, outcome, from }, index) => index > 70_000 && call === 'read' && outcome === 'read' && from > 0,
  )
  const earlier = calls.find(({ call, outcome }) => call === 'write' && outcome === 'accepted') as RegisterCall
  const bad = calls.with(place, { ...calls[place], value: earlier.value, count: earlier.count } as RegisterCall)
  const [violation] = checkCalls(bad)
  expect(violation?.operations.map(({ id }) => id)).toContain(calls[place]?.id)
  expect(violation?.operations.length).toBeLessThan(20)
})
