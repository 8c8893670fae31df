import { createLease, type LeaseStore } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { LocalLeaseStore } from '@leasehold/local'
import { RedisLeaseStore } from '@leasehold/redis'
import { heldWhile } from '../../redis/contenders/held-while.js'
import { openClient } from '../../redis/redis-client.js'
import { type Contender, type Holder, type Place, TTL, type Use } from './contender.js'

type Provider = '@leasehold/local' | '@leasehold/redis'

async function openStore(provider: Provider, isThreaded: boolean, { folder, port }: Place): Promise<LeaseStore> {
  const options = provider === '@leasehold/local' ? { folder } : { url: `redis://127.0.0.1:${port}` }
  if (isThreaded) return await new HeartbeatThread().open({ leaseClass: provider, options })
  if (provider === '@leasehold/local') return new LocalLeaseStore({ folder })
  // The compiler does not know the client, which is in the rivals' folder.
  return new RedisLeaseStore(openClient(port) as unknown as ConstructorParameters<typeof RedisLeaseStore>[0])
}

async function open(provider: Provider, isThreaded: boolean, place: Place, use: Use): Promise<Holder> {
  const { role, selfFence, unresponsiveAfter, isNeverRenewed } = use
  const store = await openStore(provider, isThreaded && role === 'holder', place)
  return {
    hold: (name) =>
      heldWhile((onHeld) => {
        const lease = createLease(store, name, {
          heartbeatTimeout: TTL,
          selfFence,
          unresponsiveAfter,
          ...(isNeverRenewed === true ? { strategy: 'manual' } : {}),
        })
        const work = ({ signal }: { readonly signal: AbortSignal }): Promise<void> =>
          onHeld({
            views: [{ means: '`checkLease()`', believes: () => lease.checkLease() }],
            onLoss: (listener) => signal.addEventListener('abort', listener),
          })
        return lease.run(work, { wait: Number.POSITIVE_INFINITY })
      }),
  }
}

export function leaseholdContenders(): readonly Contender[] {
  return (['@leasehold/local', '@leasehold/redis'] as const).flatMap((provider) =>
    [false, true].map((isThreaded) => ({
      id: isThreaded ? `${provider} thread` : provider,
      label: isThreaded ? `${provider}, heartbeat thread` : provider,
      ours: true,
      isThreaded,
      isOnRedis: provider === '@leasehold/redis',
      open: (place, use) => open(provider, isThreaded, place, use),
    })),
  )
}
