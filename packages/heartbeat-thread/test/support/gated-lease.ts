import { BroadcastChannel } from 'node:worker_threads'
import { type LeaseFactory, MemoryLeaseStore, StoreLease } from '@leasehold/core'

/** Opens a store when the test says so, on the channel that is named in the options. It says `asked` and `closed` there. */
export const gatedLease: LeaseFactory = async (settings, { share }) =>
  new StoreLease(settings, await share('gated', () => openGated(String(settings.options.channel))))

async function openGated(name: string): Promise<MemoryLeaseStore> {
  const channel = new BroadcastChannel(name)
  await new Promise<void>((resolve) => {
    channel.onmessage = ({ data }: { data: unknown }) => {
      if (data === 'open') resolve()
    }
    channel.postMessage('asked')
  })
  return new (class extends MemoryLeaseStore {
    override async close(): Promise<void> {
      channel.postMessage('closed')
      channel.close()
      await super.close()
    }
  })()
}
