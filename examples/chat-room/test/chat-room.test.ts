import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('shows all members the same messages in the same order, also after an instance was killed', () => {
  expect(runExample('chat-room')).toEqual({
    status: 0,
    lines: [
      '1 ada: Hello',
      '2 ada: Is anybody here?',
      '3 bob: I am',
      'both instances show the same: true',
      'after a kill, 7 messages, numbered 1 to 7',
      'both instances show the same: true',
    ],
    stderr: '',
  })
})
