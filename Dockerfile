# The worker of Millrace; docs/docker.md tells how to use it.

FROM maven:3.9-eclipse-temurin-17 AS build
WORKDIR /build
COPY pom.xml ./
COPY src/main src/main
# Tests need servers, and formatting was checked where the tests ran.
RUN mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true package

FROM eclipse-temurin:17-jre
RUN useradd --system --uid 10001 --home-dir /var/lib/millrace --create-home millrace
COPY --from=build /build/target/lib /opt/millrace/lib
COPY --from=build /build/target/millrace.jar /opt/millrace/millrace.jar
USER millrace
WORKDIR /var/lib/millrace
ENV MILLRACE_CONFIG=/etc/millrace/millrace.yaml
# No HEALTHCHECK: a worker opens no port. It ends when it can't go on, and is started again.
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=75", "-cp", "/opt/millrace/millrace.jar:/opt/millrace/lib/*", "dev.millrace.app.Main"]
CMD ["worker"]
