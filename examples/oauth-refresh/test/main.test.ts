import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('no refresh token is used twice, although a process is killed in the middle of a refresh', () => {
  expect(runExample('oauth-refresh')).toEqual({
    status: 0,
    lines: [
      'each by itself: a refresh token was used twice, and the user was logged out',
      'with SingleFlight: one process was killed in the middle of a refresh, and the others went on',
      'refresh tokens used twice: 0; the next process began a new session',
    ],
    stderr: '',
  })
})
