// #region simulate
import { simulate } from '@leasehold/testkit'

export async function countGrants(schedules: number): Promise<number> {
  let grants = 0
  for (let seed = 1; seed <= schedules; seed += 1) grants += (await simulate({ seed })).grants
  return grants
}
// #endregion simulate
