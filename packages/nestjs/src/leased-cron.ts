import { shownValue } from '@leasehold/core/internal'
import type { Schedule, ScheduleOptions } from '@leasehold/recipes'
import { Reflector } from '@nestjs/core'
import { at, type DiscoveredMethod, faultAt, metadataOf } from './discovered-methods.js'
import { withHeld } from './held-parameters.js'
import type { Leases } from './leases.js'

/** The options of `@LeasedCron`: those of a `Schedule` but its timetable and its work. */
export interface LeasedCronOptions extends Omit<ScheduleOptions, 'name' | 'cron' | 'every' | 'anchor' | 'work'> {
  /** The name of the schedule, the same on all instances; the class and the method unless given, such as `Reports.sendAll`. */
  readonly name?: string | undefined
}

interface LeasedCronMethod {
  readonly cron: string
  readonly options: LeasedCronOptions
}

const leasedCron = Reflector.createDecorator<LeasedCronMethod>()

/**
 * Calls the method at each tick of a cron expression, on one of the instances: see `Schedule` for what is certain. The method
 * gets the `Tick`. It needs no `@nestjs/schedule`. The time zone is UTC unless `timeZone` is given.
 */
export function LeasedCron(cron: string, options: LeasedCronOptions = {}): MethodDecorator {
  return leasedCron({ cron, options })
}

/** A method that a schedule calls. */
export interface ScheduledMethod {
  readonly method: DiscoveredMethod
  readonly decorator: string
  readonly name: string
  readonly options: Omit<ScheduleOptions, 'name' | 'work'>
}

/** The methods with `@LeasedCron`. Throws a `LeaseConfigurationError` that names the class and the method. */
export function leasedCrons(methods: readonly DiscoveredMethod[]): ScheduledMethod[] {
  return methods.flatMap((method) => {
    const found = metadataOf<LeasedCronMethod>(leasedCron, method)
    if (found === undefined) return []
    const { cron, options } = found
    const { name: given, ...others } = Object(options) as LeasedCronOptions
    const decorator = '@LeasedCron'
    if (!method.isStatic) throw faultAt(method, decorator, 'its provider is made for each request: use a singleton')
    return [{ method, decorator, name: nameOf(method, decorator, given), options: { ...others, cron } }]
  })
}

/** The name of a schedule: as given, or else the class and the method. */
export function nameOf(method: DiscoveredMethod, decorator: string, given: unknown): string {
  const name = given ?? method.name
  if (name === undefined) throw faultAt(method, decorator, 'give it a name, as its class has none: { name }')
  if (typeof name === 'string' && name !== '') return name
  throw faultAt(method, decorator, `its name must be a text, not ${shownValue(name)}`)
}

/** Throws a `LeaseConfigurationError` if two methods have one name: all their ticks would count as those of one schedule. */
export function checkNames(
  scheduled: readonly ScheduledMethod[],
  elections: ReadonlyMap<string, DiscoveredMethod>,
): void {
  const found = new Map<string, DiscoveredMethod>()
  for (const { method, decorator, name } of scheduled) {
    const other = found.get(name) ?? elections.get(name)
    if (other !== undefined) {
      const who = other.place === method.place ? 'another object of this class' : other.place
      throw faultAt(
        method,
        decorator,
        `the name '${name}' is also that of ${who}: give each a name of its own, by { name }`,
      )
    }
    found.set(name, method)
  }
}

/** Makes the schedule of a method. Throws a `LeaseConfigurationError` that names the class and the method. */
export function createSchedule({ method, decorator, name, options }: ScheduledMethod, leases: Leases): Schedule {
  const work: ScheduleOptions['work'] = (tick) =>
    method.method.apply(method.instance, withHeld(method.method, decorator === '@Cron' ? [] : [tick], tick))
  return at(method, decorator, () => leases.addSchedule(name, { ...options, work }))
}
