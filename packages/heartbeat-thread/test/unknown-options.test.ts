import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { describe, expect, it } from 'vitest'

const openWith = (options: object): Promise<unknown> => new HeartbeatThread().open(options as { leaseClass: string })

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['HeartbeatThread', 'execArgs', 'execArgv', (o: object) => new HeartbeatThread(o)],
    ['HeartbeatThread.open', 'lease-class', 'leaseClass', (o: object) => openWith(o)],
  ] as [string, string, string, (options: object) => unknown][])(
    '%s: %s, meant is %s',
    async (taker, option, meant, use) => {
      const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
      expect(error).toMatchObject({ name: 'LeaseConfigurationError' })
      expect((error as Error).message).toBe(`${taker} has no option '${option}': did you mean '${meant}'?`)
    },
  )
})
