import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it.each(['http', 'express', 'hono'])(
  'with %s, a request in progress keeps its lease at the end, and another instance leads after a kill',
  (kind) => {
    expect(runExample('http', [kind])).toEqual({
      status: 0,
      lines: [
        `${kind}: anna leads, and both are healthy`,
        `${kind}: anna was asked to end, and ends the request with its lease`,
        `${kind}: anna exits with 0, berta leads`,
        `${kind}: berta was killed, carla leads`,
        `${kind}: no tick ran twice`,
      ],
      stderr: '',
    })
  },
)
