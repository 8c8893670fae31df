import type { SmallDisk } from '@leasehold/testing/small-disk'
import type { SystemFault } from '../systems/system.js'

interface FullDiskOptions {
  readonly target: string
  readonly weight?: number
  /** Makes the server need more room. */
  readonly strain?: () => Promise<void>
  /** Called when there is room again: a server may have ended itself, and may have been unable to start. */
  readonly mend?: () => Promise<void>
}

/** The disk of a server, or of the clients, has no room for a while. */
export function fullDisk(
  disk: Pick<SmallDisk, 'fill' | 'free'> | undefined,
  { target, weight = 1, strain, mend }: FullDiskOptions,
): readonly SystemFault[] {
  if (disk === undefined) return []
  return [
    {
      kind: 'fill-disk',
      target,
      weight,
      lasts: [500, 5_000],
      begin: async () => {
        disk.fill()
        await strain?.()
      },
      end: async () => {
        disk.free()
        await mend?.()
      },
    },
  ]
}

/** Why no disk is filled, for the report. */
export function diskLeftOut(disk: SmallDisk | undefined): readonly string[] {
  return disk === undefined ? ['full disks: this process may not mount a small one'] : []
}
