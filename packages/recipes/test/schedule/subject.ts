import { Schedule } from '@leasehold/recipes'
import type { RecipeSubject } from '../laws/recipe-trial.js'
import type { ScheduleLawOptions, ScheduleUnderLaw } from '../laws/schedule.js'

/** The schedule, for its laws. */
export const schedule: Omit<RecipeSubject<ScheduleUnderLaw, ScheduleLawOptions>, 'store'> = {
  name: 'Schedule',
  create: ({ store, name, leaseOptions, now }, options) =>
    new Schedule(store, { ...leaseOptions, name, ...(now === undefined ? {} : { now }), ...options }),
}
