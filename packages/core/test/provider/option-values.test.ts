import { inspect } from 'node:util'
import { LeaseConfigurationError } from '@leasehold/core'
import { OptionValues } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'

type Reader = (values: OptionValues) => unknown

const readers: Record<string, Reader> = {
  text: (values) => values.text('keyPrefix'),
  secret: (values) => values.secret('keyPrefix'),
  texts: (values) => values.texts('keyPrefix'),
  duration: (values) => values.duration('keyPrefix'),
  number: (values) => values.number('keyPrefix'),
  switch: (values) => values.switch('keyPrefix'),
  choice: (values) => values.choice('keyPrefix', ['one', 'two', 'three']),
}

function valuesOf(keyPrefix: unknown): OptionValues {
  return new OptionValues('redis', { keyPrefix })
}

function refused(how: string, value: unknown): LeaseConfigurationError {
  try {
    readers[how]?.(valuesOf(value))
  } catch (error) {
    if (error instanceof LeaseConfigurationError) return error
  }
  throw new Error(`${how} took it`)
}

describe('an option of a block', () => {
  it.each(Object.keys(readers))('as a %s is undefined if it is absent, null or empty', (how) => {
    for (const absent of [undefined, null, '']) expect(readers[how]?.(valuesOf(absent))).toBeUndefined()
    expect(readers[how]?.(new OptionValues('redis', {}))).toBeUndefined()
  })

  it.each([
    ['text', 'jobs:', 'jobs:'],
    ['text', 7, '7'],
    ['secret', 'jobs:', 'jobs:'],
    ['texts', ['a', 'b'], ['a', 'b']],
    ['texts', 'a', ['a']],
    ['texts', [], undefined],
    ['number', 3, 3],
    ['number', '0.3', 0.3],
    ['duration', 1_500, 1_500],
    ['duration', '12s', 12_000],
    ['duration', ' 1.5 minutes ', 90_000],
    ['duration', '250', 250],
    ['duration', 'infinite', Number.POSITIVE_INFINITY],
    ['choice', 'two', 'two'],
  ])('as a %s: %j is %j', (how, value, read) => {
    expect(readers[how]?.(valuesOf(value))).toEqual(read)
  })

  it('is a switch in all forms of HOCON', () => {
    for (const word of [true, 'true', 'on', 'yes']) expect(valuesOf(word).switch('keyPrefix')).toBe(true)
    for (const word of [false, 'false', 'off', 'no']) expect(valuesOf(word).switch('keyPrefix')).toBe(false)
  })

  it.each([
    ['text', { password: 'hunter2' }, 'key-prefix must be a text, not an object'],
    ['secret', 7, 'key-prefix must be a text, not a number: put it in quotes'],
    ['secret', ['hunter2'], 'key-prefix must be a text, not a list'],
    ['texts', ['a', 7], 'key-prefix must be a list of texts: a number is none'],
    ['texts', { a: 'b' }, 'key-prefix must be a list of texts: an object is none'],
    ['texts', ['a', ''], 'key-prefix must be a list of texts: an empty one stands in it'],
    ['texts', ['a', null], 'key-prefix must be a list of texts: null is none'],
    ['number', 'three', 'key-prefix must be a number, not three'],
    ['duration', 'soon', 'key-prefix must be a duration such as 12s, 500ms or infinite, not soon'],
    ['switch', 'perhaps', 'key-prefix must be on or off, not perhaps'],
    ['switch', 1, 'key-prefix must be on or off, not 1'],
    ['choice', 'four', 'key-prefix must be one, two or three, not four'],
    ['choice', ['one'], 'key-prefix must be one, two or three, not a list'],
  ])('as a %s is rejected: %j', (how, value, message) => {
    const error = refused(how, value)
    expect(error.message).toBe(message)
    expect(error.store).toBe('redis')
  })

  it.each([
    ['secret', ['hunter2']],
    ['secret', { value: 'hunter2' }],
    ['texts', ['redis://:hunter2@one', 7]],
    ['texts', [['redis://:hunter2@one']]],
    ['text', ['hunter2']],
  ])('that is secret is not part of the error: as a %s, %j', (how, value) => {
    expect(inspect(refused(how, value), { depth: 10 }).split('\n    at ')[0]).not.toContain('hunter2')
  })
})
