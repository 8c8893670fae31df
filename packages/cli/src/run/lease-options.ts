import type { CreateLeaseOptions, LeaseSettings } from '@leasehold/core'
import { leaseOptionsOf } from '@leasehold/core/internal'
import type { Invocation, OptionDeclaration } from '../command-declaration.js'
import { run } from '../declarations.js'

type RunOptions = Invocation<typeof run>['options']
type Declared = (typeof run)['options'][keyof RunOptions]

/** The options of a lease that `run` has no option for, and why. The compiler reports one that is in neither place. */
export const notOnCommandLine: Readonly<
  Record<Exclude<keyof CreateLeaseOptions, Extract<Declared, { readonly lease: string }>['lease']>, string>
> = {
  objective: 'the times in which a command is ended need a fixed ttl: leasehold advise --failover finds one',
  selfFence: 'the watchdog ends the command in time, also if leasehold hangs; a configuration may still set it',
  clock: 'an object: leasehold has the clock of the machine',
  logger: 'an object: leasehold writes to standard error',
  random: 'a function',
  recorder: 'a block of a configuration: recorder { folder = … }',
  parent: 'an object of the program that holds the parent',
}

/** The options of the block, below those of the command line. `--ttl` takes the place of all durations of the block. */
export function leaseOptions(
  settings: LeaseSettings,
  options: RunOptions,
  environment: Pick<CreateLeaseOptions, 'clock' | 'logger' | 'recorder'>,
): CreateLeaseOptions & { readonly owner: string } {
  const { heartbeatTimeout, heartbeatInterval, operationTimeout, strategy, objective, ...others } =
    leaseOptionsOf(settings)
  const durations = { heartbeatTimeout, heartbeatInterval, operationTimeout, strategy, objective }
  const given = Object.entries<OptionDeclaration>(run.options).flatMap(([flag, { lease }]) => {
    const value = options[flag as keyof RunOptions]
    return lease === undefined || value === undefined ? [] : [[lease, value]]
  })
  return {
    ...(options.ttl === undefined ? durations : {}),
    ...others,
    // The parser has made the values from their declarations.
    ...(Object.fromEntries(given) as CreateLeaseOptions),
    ...environment,
    owner: options.owner ?? settings.owner,
  }
}
