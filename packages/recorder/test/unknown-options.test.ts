import { flightRecorder } from '@leasehold/recorder'
import { describe, expect, it } from 'vitest'

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['flightRecorder', 'folders', 'folder', (o: object) => flightRecorder(o as { folder: string })],
    ['flightRecorder', 'sise', 'size', (o: object) => flightRecorder({ folder: 'recordings', ...o })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})
