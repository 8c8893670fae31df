import { Schedule } from '@leasehold/recipes'
import type { StoreSubject } from '@leasehold/testkit'
import type { RecipeSubject, ScheduleLawOptions, ScheduleUnderLaw } from '@leasehold/testkit/recipes'

/** `Schedule` over a kind of store, for its laws. */
export function scheduleOn(store: StoreSubject): RecipeSubject<ScheduleUnderLaw, ScheduleLawOptions> {
  return {
    name: 'Schedule',
    store,
    create: ({ store, name, leaseOptions, now }, options) =>
      new Schedule(store, { ...leaseOptions, name, ...(now === undefined ? {} : { now }), ...options }),
  }
}
