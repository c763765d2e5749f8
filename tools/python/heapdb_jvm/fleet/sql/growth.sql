-- Classes by growth
-- Growth of the shallow bytes per dump of a class: slope of the regression line over the days, for classes that are
-- larger at the end than at the beginning. fit is the coefficient of determination (R squared).
SELECT app, name, days, cast(floor(slope + 0.5) AS bigint) AS bytes_per_day, round(fit, 2) AS fit,
       cast(floor(first_bytes) AS bigint) AS first_bytes, cast(floor(last_bytes) AS bigint) AS last_bytes,
       cast(floor(last_objects) AS bigint) AS last_objects
FROM (SELECT app, name, count(*) AS days, regr_slope(bytes, unix_date(cast(day AS date))) AS slope,
             regr_r2(bytes, unix_date(cast(day AS date))) AS fit, min_by(bytes, day) AS first_bytes,
             max_by(bytes, day) AS last_bytes, max_by(objects, day) AS last_objects
      FROM (SELECT app, day, name, avg(bytes) AS bytes, avg(objects) AS objects
            FROM (SELECT app, day, build, dump, name, cast(sum(shallow) AS double) AS bytes,
                         cast(sum(objects) AS double) AS objects
                  FROM histogram GROUP BY app, day, build, dump, name) AS by_dump
            GROUP BY app, day, name) AS by_day
      GROUP BY app, name) AS lines
WHERE days >= 3 AND slope > 0 AND last_bytes > first_bytes
ORDER BY bytes_per_day DESC, app, name
LIMIT 40
