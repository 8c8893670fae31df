import { Schedule } from '@leasehold/recipes'
import type { RecipeSubject, ScheduleLawOptions, ScheduleUnderLaw } from '@leasehold/testkit/recipes'

/** The schedule, for its laws. */
export const schedule: Omit<RecipeSubject<ScheduleUnderLaw, ScheduleLawOptions>, 'store'> = {
  name: 'Schedule',
  create: ({ store, name, leaseOptions, now }, options) =>
    new Schedule(store, { ...leaseOptions, name, ...(now === undefined ? {} : { now }), ...options }),
}
