export function SchedulesView() {
  return <p>Schedules</p>
}
