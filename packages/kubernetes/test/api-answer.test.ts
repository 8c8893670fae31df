import { describe, expect, it } from 'vitest'
import { toAnswer } from '../src/api/api-answer.js'

describe('an answer has', () => {
  it('the time of the server in milliseconds, if its head has a valid one', () => {
    const dateOf = (date: string | undefined) => toAnswer(200, { date }, '{}').date
    expect(dateOf('Fri, 02 Jan 2026 03:04:05 GMT')).toBe(Date.UTC(2026, 0, 2, 3, 4, 5))
    expect([dateOf(undefined), dateOf('soon')]).toEqual([undefined, undefined])
  })

  it('the pause that the server asks for in milliseconds, if its head has a valid one', () => {
    const pauseOf = (header: string | undefined) => toAnswer(429, { 'retry-after': header }, '').retryAfter
    expect(['1', '0', '-1', 'soon', undefined].map(pauseOf)).toEqual([1_000, 0, undefined, undefined, undefined])
  })
})
